#include "backends/utofu/message_ring.h"

#include <cstring>

namespace heddle::transport::utofu {

/// It is there when its stamp is.
bool incoming_ring::look(incoming_message& out) noexcept {
  for (;;) {
    const std::uint64_t at = taken_ & (lines_ - 1);
    const std::byte* const from = at_ + at * line_bytes;
    const stamp_t stamp = stamp_of(nonce_, taken_);
    message_header head;
    std::memcpy(&head, from, sizeof head);
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
