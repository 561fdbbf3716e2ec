// plan.cpp - turns from the schedule, its shuffle and the mode.
#include "linktest/plan.h"

#include "linktest/permutation.h"

namespace heddle::linktest {

std::int64_t plan::partner(int rank, std::uint64_t repetition, std::int64_t step) const noexcept {
  if (!shuffled_) return schedule_.partner(rank, step);
  const std::uint64_t seed = mix(seed_ ^ mix(repetition));
  const permutation ranks(static_cast<std::uint64_t>(ranks_), seed);
  const permutation steps(static_cast<std::uint64_t>(schedule_.steps()), mix(seed));
  const auto seat = static_cast<std::int64_t>(ranks.forward(static_cast<std::uint64_t>(rank)));
  const auto when = static_cast<std::int64_t>(steps.forward(static_cast<std::uint64_t>(step)));
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
  if (mode_ == run_mode::parallel) return {peer, starts_first(rank, peer) == (phase == 0)};
  if (phase == rank) return {peer, true};
  return phase == peer ? turn{peer, false} : turn{};
}

}  // namespace heddle::linktest
