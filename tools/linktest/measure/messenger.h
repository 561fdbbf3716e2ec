// SPDX-License-Identifier: BSD-3-Clause
// messenger.h - the few message patterns that measuring needs: the seam between the link tester and
// the library, so that everything above it is tested without a running engine.
#pragma once
#include <heddle/status.h>
#include <heddle/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace heddle::linktest {

/// How long to wait for a peer.
enum class patience : std::uint8_t {
  usual,   ///< the timeout
  meeting  ///< many timeouts: the peer may itself be waiting for others
};

/// Blocking, tagged messages between this rank and a peer. One thread at a time.
///
/// Every function returns done, or why not, and always returns: a peer that is dead, or that does
/// not move for as long as the patience says, gives peer_lost. A message of another length than the
/// buffer's gives truncated. After a failure nothing more may be expected from that peer.
/// Messages to one peer with one tag arrive in order.
class message_path {
 public:
  virtual ~message_path() = default;
  virtual status send(rank to, tag t, std::span<const std::byte> data) = 0;
  virtual status recv(rank from, tag t, std::span<std::byte> into, patience how) = 0;
  /// Sends `data` to `peer` and receives `into` from it, both at once.
  virtual status exchange(rank peer, tag t, std::span<const std::byte> data,
                          std::span<std::byte> into) = 0;
  /// Sends `data` `count` times with at most `window` >= 1 in flight, and waits for all.
  virtual status send_burst(rank to, tag t, std::span<const std::byte> data, std::uint64_t count,
                            std::uint64_t window) = 0;
  /// Receives `count` messages of `bytes` each, the i-th into slot i modulo the number of slots
  /// that fit in `slots` (at least one).
  virtual status recv_burst(rank from, tag t, std::span<std::byte> slots, std::size_t bytes,
                            std::uint64_t count) = 0;
};

/// What the ranks tell each other, and the messages of op send.
class messenger : public message_path {
 public:
  [[nodiscard]] virtual rank self() const noexcept = 0;
  [[nodiscard]] virtual int size() const noexcept = 0;
};

/// What a message of the link tester is for; the upper bits of its tag.
enum class purpose : std::uint8_t {
  greeting,
  ready,
  data,
  receipt,
  verdict,
  meeting,
  losses,
  rows,
  texts,
  probes,
  places,
  all_to_all
};

/// `number` tells messages of one purpose apart; below 2^56.
[[nodiscard]] constexpr tag tag_for(purpose what, std::uint64_t number) noexcept {
  return static_cast<tag>(what) << 56 | number;
}

}  // namespace heddle::linktest
