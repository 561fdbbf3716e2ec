// SPDX-License-Identifier: BSD-3-Clause
// event.h - what an endpoint has to say.
#pragma once
#include <heddle/status.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "transport/op.h"

namespace heddle::transport {

struct event {
  enum class kind_t : std::uint8_t {
    ended,      ///< the op `of` is over: `code` says how. Once for each that post() left under way
    arrived,    ///< a message from `from`, in `bytes`, which stay valid until the next
                ///< poll() or arm_loosely()
    peer_lost,  ///< `from` is gone; each of its ops has its own `ended` before or after this.
                ///< `bytes`: why, in words for people that follow "rank 3 is lost: ". `code`:
                ///< peer_lost, or unsupported: no way to the lane could be made, and no op was
                ///< accepted for it, so another wire may still reach the peer. Until drop() the
                ///< peer is served over a way that it finds itself
  };
  kind_t kind = kind_t::ended;
  status code = status::done;
  remote_lane* from = nullptr;
  op* of = nullptr;
  std::span<const std::byte> bytes;
};

/// For event::bytes of a peer_lost.
[[nodiscard]] inline std::span<const std::byte> bytes_of(std::string_view words) noexcept {
  return std::as_bytes(std::span(words));
}

}  // namespace heddle::transport
