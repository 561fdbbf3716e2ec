// SPDX-License-Identifier: BSD-3-Clause
// world_meeting.h - how the ranks of a world meet where nobody else arranges it for them: by
// messages on lane 0.
//
// Dissemination: in round k each rank tells the one 2^k after it all it knows, and learns from the
// one 2^k before it. What is told (the least claim, the greatest, a lost rank) may be told twice,
// so after log2(ranks) rounds everybody knows the same, whatever the number of ranks.
#pragma once
#include <heddle/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <tuple>

#include "bootstrap/gathered.h"
#include "engine/lane_core.h"

namespace heddle::engine {

/// What a rank says when it meets the others, and all should say alike.
struct claim {
  std::uint64_t bytes = 0;
  std::uint64_t allowed = 0;  ///< rights, or one of these for a meeting about something else
  std::uint64_t number = 0;   ///< of a symmetric array, as this rank proposes it
  static constexpr std::uint64_t of_a_name = std::uint64_t{1} << 32;      ///< and the handler's id
  static constexpr std::uint64_t of_own_memory = std::uint64_t{1} << 33;  ///< and rights
  static constexpr std::uint64_t of_a_world = std::uint64_t{1} << 34;     ///< beside this one
  static constexpr std::uint64_t of_no_room = std::uint64_t{1} << 35;     ///< for what all make
  friend bool operator==(const claim&, const claim&) = default;
  friend bool operator<(const claim& a, const claim& b) noexcept {
    return std::tie(a.bytes, a.allowed, a.number) < std::tie(b.bytes, b.allowed, b.number);
  }
};

/// That ranks claim different things.
struct dissent {
  rank who = 0;  ///< claims something else than this rank
  /// Where they do so in the number only: the greatest.
  std::optional<std::uint64_t> greatest_number{};
};

/// The claims of several ranks, as far as it matters whether they are the same.
struct claim_range {
  claim least, greatest;
  rank least_of = 0, greatest_of = 0;

  claim_range(const claim& mine, rank self) noexcept
      : least(mine), greatest(mine), least_of(self), greatest_of(self) {}
  void add(const claim_range& more) noexcept {
    if (more.least < least) least = more.least, least_of = more.least_of;
    if (greatest < more.greatest) greatest = more.greatest, greatest_of = more.greatest_of;
  }
  /// Nothing: all are `mine`, which is one of them.
  [[nodiscard]] std::optional<dissent> dissent_from(const claim& mine) const noexcept {
    if (least == greatest) return {};
    dissent d{.who = least != mine ? least_of : greatest_of};
    if (least.bytes == greatest.bytes && least.allowed == greatest.allowed)
      d.greatest_number = greatest.number;
    return d;
  }
};

/// The meetings of one world. One thread at a time; all ranks meet in the same order.
class world_meeting {
 public:
  /// Collective: waits for every rank. Returns a dissent if there is one; then there is one for
  /// every rank. Throws error: a rank is gone, and which.
  std::optional<dissent> meet(lane_core& lane_zero, const claim& mine);
  /// Collective: gives `mine`, returns everybody's, after log2(ranks) rounds (Bruck's algorithm).
  /// Throws error like meet().
  bootstrap::gathered gather(lane_core& lane_zero, std::span<const std::byte> mine);

 private:
  struct news;
  static void swap(lane_core& lane, int distance, std::uint64_t round, news& known);

  std::uint64_t meetings_ = 0;
};

}  // namespace heddle::engine
