// SPDX-License-Identifier: BSD-3-Clause
// halves.h - the two halves of the ranks between which a bisection measures.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "linktest/plan/permutation.h"

namespace heddle::linktest {

/// Whether only pairs between two halves of the ranks are measured, and who is in the first.
struct halves_choice {
  enum class how : std::uint8_t { none, by_rank, by_seed, by_host, by_group, given };
  how what = how::none;
  std::vector<int> first{};  ///< given, and by host or group in a job: ascending, each once
  int lower = 0;             ///< by_rank: so many are in the first; 0: half of them
};

/// "first" (the lower half of the ranks), "random" (by the seed), "hosts" or "groups" (of whole
/// ones), or the ranks of one half, such as "0-3,8". Throws error naming the text and what is
/// accepted.
[[nodiscard]] halves_choice parse_halves(const std::string& text);
/// What parse_halves() reads; "none" for none.
[[nodiscard]] std::string text_of(const halves_choice& halves);
/// The choice for a job, from the numbers of each rank's host and group: by host or group, its
/// first half gets the ranks of those with the lower numbers, and none when there is only one.
[[nodiscard]] halves_choice for_hosts(halves_choice choice, const std::vector<int>& host_of,
                                      const std::vector<int>& group_of);

/// Every rank of one half meets every rank of the other one once: step by step each has at most one
/// partner, and of unequal halves some idle. Memory: the ranks in `first`.
class halves {
 public:
  static constexpr std::int64_t idle = -1;

  /// `choice` is one, and leaves no half empty: problem_with() says so.
  halves(int ranks, halves_choice choice, std::uint64_t seed);

  /// What is wrong with a choice for so many ranks, with the cure; empty: nothing.
  [[nodiscard]] static std::string problem_with(const halves_choice& choice, int ranks);

  /// As many as the larger half has ranks.
  [[nodiscard]] std::int64_t steps() const noexcept { return larger_; }
  /// Of each step.
  [[nodiscard]] std::int64_t pairs() const noexcept { return ranks_ - larger_; }
  [[nodiscard]] bool in_first(int rank) const noexcept { return seat_of(rank) < first_; }
  /// Partner of `rank` in `step`, or `idle`.
  [[nodiscard]] std::int64_t partner(int rank, std::int64_t step) const noexcept;

 private:
  [[nodiscard]] std::int64_t seat_of(std::int64_t rank) const noexcept;
  [[nodiscard]] std::int64_t rank_at(std::int64_t seat) const noexcept;

  std::int64_t ranks_;
  halves_choice choice_;
  permutation order_;
  std::int64_t first_, larger_;  // ranks of the first half, of the larger one
};

}  // namespace heddle::linktest
