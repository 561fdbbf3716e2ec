// SPDX-License-Identifier: BSD-3-Clause
// plan.cpp - turns from the schedule, its shuffle and the mode.
#include "linktest/plan/plan.h"

#include "linktest/plan/permutation.h"

namespace heddle::linktest {

std::int64_t plan::partner(int rank, std::uint64_t repetition, std::int64_t step) const noexcept {
  const bool sampled = sample_ != all_steps;
  if (!shuffled_ && !sampled)
    return halves_ ? halves_->partner(rank, step) : schedule_.partner(rank, step);
  const std::uint64_t seed = mix(seed_ ^ mix(sampled ? 0 : repetition));
  const permutation steps(static_cast<std::uint64_t>(possible_steps()), mix(seed));
  const auto when = static_cast<std::int64_t>(steps.forward(static_cast<std::uint64_t>(step)));
  if (halves_) return halves_->partner(rank, when);
  const permutation ranks(static_cast<std::uint64_t>(ranks_), seed);
  const auto seat = static_cast<std::int64_t>(ranks.forward(static_cast<std::uint64_t>(rank)));
  const std::int64_t met = schedule_.partner(seat, when);
  return met == schedule::idle
             ? met
             : static_cast<std::int64_t>(ranks.inverse(static_cast<std::uint64_t>(met)));
}

turn plan::turn_of(int rank, std::uint64_t repetition, std::int64_t step,
                   std::int64_t phase) const noexcept {
  const std::int64_t met = partner(rank, repetition, step);
  if (met == schedule::idle) return {};
  const int peer = static_cast<int>(met);
  if (mode_ == run_mode::parallel) return {peer, leads_first(rank, peer) == (phase == 0)};
  if (phase == rank) return {peer, true};
  return phase == peer ? turn{peer, false} : turn{};
}

plan plan_of(const options& chosen, int ranks) {
  const std::uint64_t sample = chosen.search.pairs != 0   ? chosen.search.pairs
                               : chosen.search.time_s > 0 ? ~std::uint64_t{0}
                                                          : plan::all_steps;
  return {ranks, chosen.mode, chosen.shuffle, chosen.seed, sample, chosen.halves};
}

}  // namespace heddle::linktest
