// SPDX-License-Identifier: BSD-3-Clause
// eager.h - messages that travel whole.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "protocols/flow.h"
#include "protocols/rendezvous.h"

namespace heddle::protocols {

/// Sends tagged messages and calls: whole, or announced by rendezvous. Only tagged ones can be
/// unexpected, so only they take credit. Holder only.
class eager final : public protocol {
 public:
  eager(path& way, peer_table& peers, operations& ops, rendezvous& large, flow& credit,
        port_counters& counters)
      : protocol(way),
        peers_(peers),
        ops_(ops),
        rendezvous_(large),
        flow_(credit),
        counters_(counters) {}

  /// The short way of a message that can leave at once: true, and it has. False: nothing has
  /// happened, and begin() finds out why. `cost`: what it takes of the peer's credit.
  bool send_now(destination to, transport::message_head head, std::span<const std::byte> header,
                std::span<const std::byte> data, std::uint64_t cost) noexcept {
    peer* const p = peers_.find(to);
    if (p == nullptr || !p->is_free() || data.size() > p->eager_bytes || !p->credit.covers(cost) ||
        p->wire.by->send(*p->wire.to, head, header, data) != status::done) [[unlikely]]
      return false;
    p->credit.take(cost);
    note_sent(*p, data.size());
    return true;
  }
  /// A send or a call.
  status begin(const command& c) override;
  status start(request& r) override;
  void ended(request& r, status code) override;

 private:
  [[nodiscard]] static std::uint64_t credit_of(command_kind what, std::size_t bytes) noexcept {
    return what == command_kind::send ? credit::cost_of(bytes) : 0;
  }
  status announce(request& r);
  void note_sent(peer& p, std::size_t bytes) noexcept {
    p.note_sent(bytes);
    counters_.eager.add();
  }

  peer_table& peers_;
  operations& ops_;
  rendezvous& rendezvous_;
  flow& flow_;
  port_counters& counters_;
};

}  // namespace heddle::protocols
