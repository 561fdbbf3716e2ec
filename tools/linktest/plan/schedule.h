// SPDX-License-Identifier: BSD-3-Clause
// schedule.h - who measures with whom in which step, in closed form: O(1) memory for any number.
#pragma once
#include <cstdint>

namespace heddle::linktest {

/// The 1-factor schedule: in each step every rank has at most one partner, and over all steps
/// every two ranks meet exactly once. With an odd number of ranks one of them idles in each step.
class schedule {
 public:
  static constexpr std::int64_t idle = -1;

  /// `ranks` >= 1.
  explicit schedule(std::int64_t ranks) noexcept : ranks_(ranks), even_(ranks + ranks % 2) {}

  /// ranks - 1 for an even number, else ranks.
  [[nodiscard]] std::int64_t steps() const noexcept { return ranks_ > 1 ? even_ - 1 : 0; }
  /// Partner of `rank` in `step`, or `idle`.
  [[nodiscard]] std::int64_t partner(std::int64_t rank, std::int64_t step) const noexcept;

 private:
  std::int64_t ranks_;
  std::int64_t even_;  // ranks_ and, when that is odd, a phantom: who meets it idles
};

/// Whether `rank` and not `partner` starts the first of a pair's two directions. Exactly one of the
/// two does, and each rank starts about as often as it follows.
[[nodiscard]] constexpr bool starts_first(std::int64_t rank, std::int64_t partner) noexcept {
  return ((rank + partner) % 2 == 0) == (rank < partner);
}

}  // namespace heddle::linktest
