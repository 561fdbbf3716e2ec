// SPDX-License-Identifier: BSD-3-Clause
// plan.h - the order of a whole run: what a rank does in every turn, without tables or messages.
#pragma once
#include <cstdint>
#include <optional>

#include "linktest/options.h"
#include "linktest/plan/schedule.h"

namespace heddle::linktest {

/// A turn of one rank.
struct turn {
  int peer = -1;           ///< -1: sit it out
  bool initiator = false;  ///< the side with the clock
};

/// A repetition has steps, a step has phases. In parallel mode the two phases of a step measure its
/// pairs in one direction and then in the other. In serial mode a step has a phase per rank, in
/// which that rank alone initiates. Every ordered pair has exactly one turn per repetition.
///
/// A sample has only so many steps: matchings of all ranks, chosen by the seed, the same in every
/// repetition. No two of them have a pair in common. Of a bisection only the pairs between its
/// halves have turns. Memory: none but the object's, for any number of ranks, and a half's ranks
/// where they were given.
class plan {
 public:
  static constexpr std::uint64_t all_steps = 0;

  /// `sample`: the number of steps, or all_steps.
  plan(int ranks, run_mode mode, bool shuffled, std::uint64_t seed,
       std::uint64_t sample = all_steps, const halves_choice& only_between = {})
      : ranks_(ranks),
        mode_(mode),
        shuffled_(shuffled),
        seed_(seed),
        sample_(sample),
        schedule_(ranks) {
    if (only_between.what != halves_choice::how::none) halves_.emplace(ranks, only_between, seed);
  }

  [[nodiscard]] std::int64_t steps() const noexcept {
    return sample_ == all_steps || sample_ > static_cast<std::uint64_t>(possible_steps())
               ? possible_steps()
               : static_cast<std::int64_t>(sample_);
  }
  /// Ordered pairs that have a turn in every repetition.
  [[nodiscard]] std::uint64_t ordered_pairs() const noexcept {
    return static_cast<std::uint64_t>(steps() * 2 * (halves_ ? halves_->pairs() : ranks_ / 2));
  }
  [[nodiscard]] std::int64_t phases() const noexcept {
    return mode_ == run_mode::serial ? ranks_ : 2;
  }
  /// The same answer on every rank: the peer's turn names this rank, with the other role.
  [[nodiscard]] turn turn_of(int rank, std::uint64_t repetition, std::int64_t step,
                             std::int64_t phase) const noexcept;
  /// Whether `rank` and not `peer` has the clock in the first phase of their step in parallel mode:
  /// of a bisection all of the first half, so that all messages of kernel uni go one way at a time.
  [[nodiscard]] bool leads_first(int rank, int peer) const noexcept {
    return halves_ ? halves_->in_first(rank) : starts_first(rank, peer);
  }
  /// Whom `rank` meets in a step, or schedule::idle.
  [[nodiscard]] std::int64_t partner(int rank, std::uint64_t repetition,
                                     std::int64_t step) const noexcept;

 private:
  [[nodiscard]] std::int64_t possible_steps() const noexcept {
    return halves_ ? halves_->steps() : schedule_.steps();
  }

  int ranks_;
  run_mode mode_;
  bool shuffled_;
  std::uint64_t seed_, sample_;
  schedule schedule_;
  std::optional<halves> halves_;  // of a bisection
};

/// The plan of a run with these options: --time takes all steps in random order, as many as it can.
[[nodiscard]] plan plan_of(const options& chosen, int ranks);

}  // namespace heddle::linktest
