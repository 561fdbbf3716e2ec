// SPDX-License-Identifier: BSD-3-Clause
#include "backends/utofu/message_ring.h"

#include <bit>
#include <cstdint>

namespace heddle::transport::utofu {

/// It is there when its stamp is.
bool incoming_ring::look(incoming_message& out) noexcept {
  for (;;) {
    const std::uint64_t at = taken_ & (lines_ - 1);
    const std::byte* const from = at_ + at * line_bytes;
    const stamp_t stamp = stamp_of(nonce_, taken_);
    // In one word: it may be on its way just now.
    const auto head = std::bit_cast<message_header>(
        reinterpret_cast<const sync::published<std::uint64_t>*>(from)->get());
    if (head.stamp != static_cast<std::uint16_t>(stamp)) return false;
    if (head.bytes == wrapped_bytes) {
      taken_ += lines_ - at;
      continue;
    }
    if (head.bytes > max_message || at + lines_of(stamp_at(head.bytes) + sizeof stamp) > lines_)
      return false;
    const auto* const behind =
        reinterpret_cast<const sync::published<stamp_t>*>(from + stamp_at(head.bytes));
    return behind->get() == stamp && take(false, out);
  }
}

}  // namespace heddle::transport::utofu
