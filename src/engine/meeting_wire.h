// SPDX-License-Identifier: BSD-3-Clause
// meeting_wire.h - what ranks send each other when they meet over lane 0, in the byte order of the
// machine: all ranks of a job share one. Whatever comes is looked at before it is believed.
#pragma once
#include <heddle/types.h>

#include <cstddef>
#include <cstdint>

#include "bootstrap/launcher_protocol.h"

namespace heddle::engine::meeting_wire {

/// Among the tags that programs cannot use, those that collectives do not get to: theirs count from
/// 0, and 2^46 of them come first.
inline constexpr tag tag_bits = reserved_tag_bit | tag{1} << 62;
/// The number of a meeting is above that of its round.
inline constexpr unsigned round_bits = 16;
inline constexpr rank nobody = -1;

/// The rank for which a meeting has failed, if it has.
struct failure {
  enum class reason : std::uint32_t {
    gone,
    nonsense,  ///< it has sent what no rank sends
  };
  rank of = nobody;
  reason why = reason::gone;

  explicit operator bool() const noexcept { return of != nobody; }
  [[nodiscard]] bool sound(int ranks) const noexcept {
    return of >= nobody && of < ranks && why <= reason::nonsense;
  }
};

/// What goes before a round's parts in a gathering: how long they are together, and for whom the
/// gathering has failed at the sender.
struct gather_head {
  std::uint64_t bytes = 0;
  failure failed = {};

  /// Whether `count` ranks' parts may have this head, in a job of so many.
  [[nodiscard]] bool sound(int ranks, std::size_t count) const noexcept {
    constexpr std::size_t longest = sizeof(std::uint32_t) + bootstrap::protocol::max_blob_bytes;
    return failed.sound(ranks) && bytes <= count * longest;
  }
};

}  // namespace heddle::engine::meeting_wire
