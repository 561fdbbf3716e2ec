// SPDX-License-Identifier: BSD-3-Clause
// membership.h - who belongs to a group, and what tells its collectives from all others.
#pragma once
#include <heddle/types.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace heddle::detail {

/// Constant, but for the number of its collectives. Any thread.
class membership {
 public:
  /// `members`: ranks of the world, in the order of their ranks in the group, of which this one is
  /// `self`. `context`: a number below 2^context_bits that no other group with two of these members
  /// has on their lane.
  membership(std::vector<rank> members, rank self, std::uint64_t context) noexcept
      : members_(std::move(members)), self_(self), context_(context) {}

  [[nodiscard]] rank self() const noexcept { return self_; }
  [[nodiscard]] int ranks() const noexcept { return static_cast<int>(members_.size()); }
  /// Its rank in the world, or -1 where there is no such member.
  [[nodiscard]] rank world_rank(rank member) const noexcept {
    const auto i = static_cast<std::size_t>(member);
    return i < members_.size() ? members_[i] : -1;
  }
  /// The rank in the group of a rank of the world; -1: it is no member.
  [[nodiscard]] rank member(rank world_rank) const noexcept {
    const auto at = std::ranges::find(members_, world_rank);
    return at == members_.end() ? -1 : static_cast<rank>(at - members_.begin());
  }
  /// What the tags of the group's next collective begin with.
  [[nodiscard]] tag next_tag() noexcept {
    // Relaxed: only unique, orders nothing.
    const std::uint64_t n = collectives_.fetch_add(1, std::memory_order_relaxed);
    return tag_bit | context_ << (sequence_bits + round_bits) |
           (n & ((std::uint64_t{1} << sequence_bits) - 1)) << round_bits;
  }

  /// The context of the group whose member 0 is `first` of the world, which calls it its `number`.
  [[nodiscard]] static constexpr std::uint64_t context_of(rank first,
                                                          std::uint64_t number) noexcept {
    return static_cast<std::uint64_t>(first) << number_bits |
           (number & ((std::uint64_t{1} << number_bits) - 1));
  }

  static constexpr unsigned round_bits = 8;
  static constexpr unsigned sequence_bits = 15;
  static constexpr unsigned number_bits = 18;
  static constexpr unsigned context_bits = 20 + number_bits;
  /// Set for groups, clear for all ranks of a lane. The two above are reserved_tag_bit and that of
  /// the world's own meetings.
  static constexpr tag tag_bit = tag{1} << (round_bits + sequence_bits + context_bits);

 private:
  std::vector<rank> members_;
  rank self_;
  std::uint64_t context_;
  std::atomic<std::uint64_t> collectives_{0};
};
static_assert(membership::tag_bit == reserved_tag_bit >> 2);

}  // namespace heddle::detail
