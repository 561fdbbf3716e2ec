// SPDX-License-Identifier: BSD-3-Clause
// matcher.h - which receive gets which message: posted receives on one side, unexpected messages on
// the other.
//
// Of the receives that accept a message the oldest gets it; of the messages that a receive accepts
// the one that arrived first (invariant I13).
#pragma once
#include <heddle/types.h>

#include "protocols/posted_receives.h"
#include "protocols/unexpected_messages.h"

namespace heddle::protocols {

/// A receive of the program's gets none of the collectives' messages, whatever its mask.
inline tag_match of_one_kind(tag_match match) noexcept {
  if ((match.value & reserved_tag_bit) == 0) match.mask |= reserved_tag_bit;
  return match;
}

/// Of one lane. Holder only.
struct matcher {
  posted_receives receives;
  unexpected_messages messages;
};

}  // namespace heddle::protocols
