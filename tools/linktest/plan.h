// plan.h - the order of a whole run: what a rank does in every turn, without tables or messages.
#pragma once
#include <cstdint>

#include "linktest/options.h"
#include "linktest/schedule.h"

namespace heddle::linktest {

/// A turn of one rank.
struct turn {
  int peer = -1;           ///< -1: sit it out
  bool initiator = false;  ///< the side with the clock
};

/// A repetition has steps, a step has phases. In parallel mode the two phases of a step measure its
/// pairs in one direction and then in the other. In serial mode a step has a phase per rank, in
/// which that rank alone initiates. Every ordered pair has exactly one turn per repetition.
class plan {
 public:
  plan(int ranks, run_mode mode, bool shuffled, std::uint64_t seed) noexcept
      : ranks_(ranks), mode_(mode), shuffled_(shuffled), seed_(seed), schedule_(ranks) {}

  [[nodiscard]] std::int64_t steps() const noexcept { return schedule_.steps(); }
  [[nodiscard]] std::int64_t phases() const noexcept {
    return mode_ == run_mode::serial ? ranks_ : 2;
  }
  /// The same answer on every rank: the peer's turn names this rank, with the other role.
  [[nodiscard]] turn turn_of(int rank, std::uint64_t repetition, std::int64_t step,
                             std::int64_t phase) const noexcept;

 private:
  [[nodiscard]] std::int64_t partner(int rank, std::uint64_t repetition,
                                     std::int64_t step) const noexcept;
  int ranks_;
  run_mode mode_;
  bool shuffled_;
  std::uint64_t seed_;
  schedule schedule_;
};

}  // namespace heddle::linktest
