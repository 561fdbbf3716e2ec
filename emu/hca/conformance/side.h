// SPDX-License-Identifier: BSD-3-Clause
// side.h - a test runs in two processes at once, each of which is a side of it.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

namespace conformance {

/// Which device, port and address the program was started for.
struct settings {
  std::string device;  ///< empty: the first
  unsigned port = 1;
  int gid = -1;  ///< its index; -1: LIDs, where the port is InfiniBand, else index 0
  double seconds = 20;
};

/// Thrown to leave a test: something it needs has failed, or the device does not have it.
struct test_over {};

class side {
 public:
  side(int rank, int wire, const settings& how) : rank_(rank), wire_(wire), how_(how) {}

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] bool is_first() const { return rank_ == 0; }
  [[nodiscard]] const settings& how() const { return how_; }

  /// Gives the other side a value and gets its own. Both have to call it.
  template <class T>
  T swap(const T& mine) {
    static_assert(std::is_trivially_copyable_v<T>);
    T theirs;
    exchange(&mine, &theirs, sizeof(T));
    return theirs;
  }
  /// Both sides have come so far.
  void meet() { swap('.'); }

  /// The test fails where `holds` is false, and goes on.
  void expect(bool holds, const char* format, ...) __attribute__((format(printf, 3, 4)));
  /// The same, and is over.
  void require(bool holds, const char* format, ...) __attribute__((format(printf, 3, 4)));
  /// This device does not have what the test is about.
  [[noreturn]] void skip(const char* format, ...) __attribute__((format(printf, 2, 3)));

  [[nodiscard]] int exit_code() const { return failed_ ? 1 : (skipped_ ? 77 : 0); }

 private:
  void exchange(const void* mine, void* theirs, std::size_t bytes);

  const int rank_;
  const int wire_;
  const settings& how_;
  bool failed_ = false, skipped_ = false;
};

struct test_case {
  const char* name;  ///< a sentence
  std::function<void(side&)> body;
  int second_ends_by = 0;  ///< a signal: the second side is to end by it
};

/// All tests of one file, by the order in which they are to be run.
using test_list = std::vector<test_case>;
test_list connection_tests();
test_list datagram_tests();
test_list error_tests();
test_list event_tests();
test_list memory_tests();
test_list queue_tests();
test_list state_tests();

enum class verdict { ok, failed, skipped };
/// Runs the test in two new processes. What went wrong is on stdout.
[[nodiscard]] verdict run(const test_case& what, const settings& how);

}  // namespace conformance
