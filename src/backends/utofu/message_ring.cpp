// SPDX-License-Identifier: BSD-3-Clause
#include "backends/utofu/message_ring.h"

#include <bit>
#include <cstdint>

namespace heddle::transport::utofu {

/// It is there when its stamp is; until then the line may hold anything, such as old data.
bool incoming_ring::look(incoming_message& out) noexcept {
  for (;;) {
    const std::uint64_t at = taken_ & (lines_ - 1);
    const std::byte* const from = at_ + at * line_bytes;
    const stamp_t stamp = stamp_of(nonce_, taken_);
    // In one word: it may be on its way just now.
    const auto head = std::bit_cast<message_header>(
        reinterpret_cast<const sync::release_acquire<std::uint64_t>*>(from)->get());
    if (head.mark != static_cast<std::uint16_t>(stamp)) return false;
    const bool wraps = head.bytes == wrapped_bytes;
    const std::size_t bytes = wraps ? 0 : head.bytes;
    if (bytes > max_message || at + lines_of(stamp_at(bytes) + sizeof stamp) > lines_) return false;
    const auto* const behind =
        reinterpret_cast<const sync::release_acquire<stamp_t>*>(from + stamp_at(bytes));
    if (behind->get() != stamp) return false;
    if (!wraps) return take(false, out);
    taken_ += lines_ - at;
  }
}

}  // namespace heddle::transport::utofu
