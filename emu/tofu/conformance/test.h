// SPDX-License-Identifier: BSD-3-Clause
// test.h - what a test is, and what it says as it goes.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "codes.h"
#include "peer.h"

namespace conformance {

/// How the program was started.
struct settings {
  bool harmless = false;   ///< leave out what may end processes or use up queues
  bool strict = false;     ///< what differs from the published facts counts as failed
  bool alone = false;      ///< no other process at all
  double seconds = 60;     ///< limit of a test
  double watch = 0;        ///< the limit by which tests choose how long they watch; 0: that one
  std::string meet;        ///< folder of a run of several ranks; empty: helpers are started here
  int rank = 0, size = 1;  ///< of such a run

  /// For tests that watch for what is rare: a busy machine needs a limit far beyond it.
  [[nodiscard]] double watching() const { return watch > 0 ? watch : seconds; }
};

/// What a disagreement means: the device is broken, or what is taken for published
/// is to be mended.
enum class kind { must, reports };

/// What a test takes for granted.
struct needs {
  int processes = 1;    ///< this one and others
  bool fork = false;    ///< one of them has to be started, and may be ended, by the test
  bool danger = false;  ///< could end a process or use up what other programs need
};

enum class verdict { ok, failed, differs, skipped };

/// The ways to the ranks of a run that a launcher started; number 0 is this one.
using far_ranks = std::vector<std::shared_ptr<way>>;

/// Thrown to leave a test whose verdict is clear.
struct test_over {};

class test {
 public:
  test(kind of, const settings& how, const far_ranks& ranks)
      : kind_(of), how_(how), ranks_(ranks) {}

  /// False: a test that must hold has failed; one that reports differs.
  void expect(bool holds, const char* format, ...) __attribute__((format(printf, 3, 4)));
  /// The same, and the test is over.
  void require(bool holds, const char* format, ...) __attribute__((format(printf, 3, 4)));
  /// False: what is taken for published is wrong, or uncertain, in this point; the test has not
  /// failed.
  void presume(bool holds, const char* format, ...) __attribute__((format(printf, 3, 4)));
  /// Something to know about this device.
  void note(const char* format, ...) __attribute__((format(printf, 2, 3)));
  [[noreturn]] void skip(const char* format, ...) __attribute__((format(printf, 2, 3)));

  /// A call that has to be refused; presumably with that code.
  void refused(int code, int presumed, const char* what);
  /// SUCCESS, or the test is over.
  void done(int code, const char* what) {
    require(code == UTOFU_SUCCESS, "%s: %s", what, name_of(code).c_str());
  }

  /// Process number 1 and up. Started when first asked for.
  peer& other(int number = 1);
  /// A process that this test may end.
  peer& victim();
  [[nodiscard]] int others() const;  ///< how many can be had
  [[nodiscard]] const settings& how() const { return how_; }
  [[nodiscard]] bool is_chaos() const;
  utofu_tni_id_t tni();  ///< the first

  /// All other processes leave. They have to end well, unless the test was to harm them.
  void dismiss();
  [[nodiscard]] verdict result() const { return verdict_; }
  [[nodiscard]] const std::string& details() const { return details_; }
  void say(const std::string& what);
  /// Something happened that must not.
  void broke(const std::string& what);

 private:
  void differ(const std::string& what);

  kind kind_;
  const settings& how_;
  const far_ranks& ranks_;
  verdict verdict_ = verdict::ok;
  std::string details_;
  std::vector<std::unique_ptr<peer>> others_;
  std::unique_ptr<peer> victim_;
};

struct test_case {
  int number;
  const char* name;  ///< a sentence
  kind of;
  needs what;
  void (*run)(test&);
};

/// One list for each file of tests.
std::vector<test_case> identity_tests();
std::vector<test_case> resource_tests();
std::vector<test_case> stadd_tests();
std::vector<test_case> operation_tests();
std::vector<test_case> atomic_tests();
std::vector<test_case> completion_tests();
std::vector<test_case> notice_tests();
std::vector<test_case> backpressure_tests();
std::vector<test_case> order_tests();
std::vector<test_case> error_tests();
std::vector<test_case> thread_tests();
std::vector<test_case> barrier_tests();
std::vector<test_case> assumption_tests();

}  // namespace conformance
