// SPDX-License-Identifier: BSD-3-Clause
// time_order.h - smallest, middle and largest of more times than are to be in memory: exact, found
// digit by digit in several looks at all of them.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "linktest/results/metrics.h"

namespace heddle::linktest {

/// One thread. Memory: 32 KiB, once there is a time.
class time_order {
 public:
  static constexpr int looks = 3;

  /// Of the times for which `look_at_all(look)` calls `look(time)`, the same in each round.
  template <class Walk>
  [[nodiscard]] static time_order of(const Walk& look_at_all) {
    time_order out;
    for (int round = 0; round < looks; ++round) {
      look_at_all([&out](float time) { out.look(time); });
      out.end_round();
    }
    return out;
  }

  /// To be called for the same times in each of `looks` rounds; NaN is left out.
  void look(float time);
  void end_round();

  /// After the rounds.
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  /// As spread_of() tells it of the times.
  [[nodiscard]] spread times() const noexcept;
  /// And of the bandwidths that follow from them.
  [[nodiscard]] spread rates(kernel k, std::uint64_t size_bytes) const noexcept;

 private:
  /// Looks for the key with so many smaller ones.
  struct search {
    std::uint64_t smaller = 0;
    std::uint32_t found = 0;            // its digits so far, in place
    std::vector<std::uint64_t> counts;  // of keys with these, by the next digit
  };
  void begin_round();

  int round_ = 0;
  std::uint64_t count_ = 0;
  float min_ = 0, max_ = 0;
  std::array<search, 2> middle_;  // the same where there is one
};

}  // namespace heddle::linktest
