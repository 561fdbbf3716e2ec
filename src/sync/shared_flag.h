// SPDX-License-Identifier: BSD-3-Clause
// shared_flag.h - words by which a sleeping thread and those who may wake it come to agree.
#pragma once
#include <atomic>

namespace heddle::sync {

/// A flag in a two-sided agreement: each side writes one such word and then reads the other's.
/// All operations are sequentially consistent, so at least one side sees the other's write.
class agreed_flag {
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

/// A count in such an agreement.
class agreed_count {
 public:
  void add(int n) noexcept { word_.fetch_add(n, std::memory_order_seq_cst); }
  [[nodiscard]] int get() const noexcept { return word_.load(std::memory_order_seq_cst); }

 private:
  std::atomic<int> word_{0};
};

/// Adds one to a count while it is here.
class counted_in {
 public:
  explicit counted_in(agreed_count& of) noexcept : of_(of) { of_.add(1); }
  ~counted_in() { of_.add(-1); }
  counted_in(const counted_in&) = delete;
  counted_in& operator=(const counted_in&) = delete;

 private:
  agreed_count& of_;
};

}  // namespace heddle::sync
