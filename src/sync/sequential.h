// SPDX-License-Identifier: BSD-3-Clause
// sequential.h - words of which all threads see the writes in one order [sequentially consistent].
#pragma once
#include <atomic>

namespace heddle::sync {

/// For two sides that each write such a word and then read the other's, as a thread that goes to
/// sleep and those who may have to wake it: at least one of them sees the other's write. It orders
/// what was written before, too, but costs a full barrier: for that alone take release_acquire.
class sequential_flag {
 public:
  void set(bool value) noexcept { word_.store(value, std::memory_order_seq_cst); }
  [[nodiscard]] bool is_set() const noexcept { return word_.load(std::memory_order_seq_cst); }
  /// True for the one caller that finds it set. The look first keeps the line shared while clear.
  [[nodiscard]] bool take() noexcept {
    return word_.load(std::memory_order_seq_cst) &&
           word_.exchange(false, std::memory_order_seq_cst);
  }

 private:
  std::atomic<bool> word_{false};
};

/// As sequential_flag, where several threads may be there at once, or how many counts.
class sequential_count {
 public:
  void add(int n) noexcept { word_.fetch_add(n, std::memory_order_seq_cst); }
  [[nodiscard]] int get() const noexcept { return word_.load(std::memory_order_seq_cst); }

 private:
  std::atomic<int> word_{0};
};

/// Adds one to a count while it is here.
class counted_in {
 public:
  explicit counted_in(sequential_count& of) noexcept : of_(of) { of_.add(1); }
  ~counted_in() { of_.add(-1); }
  counted_in(const counted_in&) = delete;
  counted_in& operator=(const counted_in&) = delete;

 private:
  sequential_count& of_;
};

}  // namespace heddle::sync
