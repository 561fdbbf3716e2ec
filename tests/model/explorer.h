// SPDX-License-Identifier: BSD-3-Clause
// explorer.h - runs small concurrent programs under every schedule up to a number of preemptions.
//
// The code under test is the real one, with model::atomic in place of std::atomic. Each thread of
// the program is a fiber; before every access to an atomic the explorer may switch to another one.
// All schedules with at most `preemptions` switches away from a thread that could go on are tried,
// depth first (Musuvathi and Qadeer, "Iterative context bounding", PLDI 2007). Memory is
// sequentially consistent here: what weaker orders allow is not explored.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace heddle::model {

using thread_body = std::function<void()>;

struct explored {
  std::uint64_t schedules = 0;
  std::string failure;  ///< of the first schedule that failed; empty: none did
};

/// `make` sets up a fresh program and gives its threads; `check` looks at the end of each run and
/// says what is wrong, or nothing. Stops at the first failure; a schedule in which every thread
/// waits, or one never comes to its end, is one.
explored explore(int preemptions, const std::function<std::vector<thread_body>()>& make,
                 const std::function<std::string()>& check);

/// A point at which another thread may run. Outside of explore() nothing happens.
void step();
/// A name of the calling thread.
const void* this_fiber();
/// The calling thread goes on once `ready` is true.
void wait_until(const std::function<bool()>& ready);

/// Stands in for std::atomic; the orders are not looked at.
template <class T>
class atomic {
 public:
  atomic() = default;
  explicit atomic(T value) : value_(value) {}
  T load(std::memory_order) const {
    step();
    return value_;
  }
  void store(T value, std::memory_order) {
    step();
    value_ = value;
  }
  T fetch_add(T other, std::memory_order) {
    step();
    return std::exchange(value_, value_ + other);
  }
  T fetch_sub(T other, std::memory_order) {
    step();
    return std::exchange(value_, value_ - other);
  }
  T fetch_and(T other, std::memory_order) {
    step();
    const T before = value_;
    value_ &= other;
    return before;
  }
  bool compare_exchange_weak(T& expected, T wanted, std::memory_order,
                             std::memory_order = std::memory_order_seq_cst) {
    step();
    if (value_ != expected) {
      expected = value_;
      return false;
    }
    value_ = wanted;
    return true;
  }
  bool compare_exchange_strong(T& expected, T wanted, std::memory_order first,
                               std::memory_order second = std::memory_order_seq_cst) {
    return compare_exchange_weak(expected, wanted, first, second);
  }
  /// For conditions of wait_until() and for checks.
  [[nodiscard]] T peek() const { return value_; }
  T exchange(T wanted, std::memory_order) {
    step();
    return std::exchange(value_, wanted);
  }

 private:
  T value_{};
};

}  // namespace heddle::model
