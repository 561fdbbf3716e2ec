// SPDX-License-Identifier: BSD-3-Clause
// schedule.cpp - the 1-factor schedule in closed form.
#include "linktest/plan/schedule.h"

namespace heddle::linktest {

std::int64_t schedule::partner(std::int64_t rank, std::int64_t step) const noexcept {
  if (ranks_ < 2) return idle;
  // Ranks 0 to m-1 pair up when they add to `step` modulo m; the one that would meet itself meets
  // rank m, which is the phantom for an odd number of ranks. m is odd, so (m + 1) / 2 halves mod m.
  const std::int64_t m = even_ - 1;
  std::int64_t met;
  if (rank == m) {
    met = step % m * ((m + 1) / 2) % m;
  } else {
    met = (step % m - rank + m) % m;
    if (met == rank) met = m;
  }
  return met < ranks_ ? met : idle;
}

}  // namespace heddle::linktest
