// SPDX-License-Identifier: BSD-3-Clause
// eager.h - messages that travel whole, and how many of them a receiver has to keep.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "protocols/path.h"
#include "protocols/rendezvous.h"
#include "sync/loose.h"

namespace heddle::protocols {

/// Sends tagged messages and calls: whole, or announced by rendezvous. Only tagged ones can be
/// unexpected, so only they take credit: each side may cause the other to keep so many bytes.
/// Holder only.
class eager final : public protocol {
 public:
  /// `patience_ns`: how long a message without credit waits for some before it is announced, where
  /// somebody looks; 0: not at all. For a peer that has given some lately it waits for longer.
  eager(path& way, peer_table& peers, operations& ops, rendezvous& large, port_counters& counters,
        std::uint64_t patience_ns)
      : protocol(way),
        peers_(peers),
        ops_(ops),
        rendezvous_(large),
        counters_(counters),
        patience_ns_(patience_ns) {}

  /// The short way of a message that can leave at once: true, and it has. False: nothing has
  /// happened, and send() finds out why. `cost`: what it takes of the peer's credit.
  bool send_now(destination to, transport::message_head head, std::span<const std::byte> header,
                std::span<const std::byte> data, std::uint64_t cost) noexcept {
    peer* const p = peers_.find(to);
    if (p == nullptr || !p->is_free() || data.size() > p->eager_bytes || cost > p->credit ||
        p->wire.by->send(*p->wire.to, head, header, data) != status::done) [[unlikely]]
      return false;
    p->credit -= cost;
    note_sent(*p, data.size());
    return true;
  }
  /// What a tagged message of so many bytes takes of its receiver's memory while it is unexpected:
  /// both sides count with it.
  [[nodiscard]] static constexpr std::uint64_t cost_of(std::size_t bytes) noexcept {
    return bytes + message_cost;
  }
  /// As port::execute, for a send or a call.
  status send(const command& c);
  /// The receiver of what we sent has taken so much, and gives it back.
  void on_message(peer& from, const message& credit) override;

  /// Hint for any thread: a message waits for credit, and has to be looked at again after a while
  /// though nothing may have come. It is known anew after new_look() and a start() of what waits.
  [[nodiscard]] bool awaits_credit() const noexcept { return awaits_credit_.get(); }
  void new_look() noexcept { awaits_credit_.set(false); }

  status start(request& r) override;
  void ended(request& r, status code) override;

 private:
  /// What an unexpected message costs its receiver beside its bytes: a number of the protocol, not
  /// of this program's memory. docs/guide/concepts.md tells it.
  static constexpr std::uint64_t message_cost = 184;
  [[nodiscard]] static std::uint64_t credit_of(command_kind what, std::size_t bytes) noexcept {
    return what == command_kind::send ? cost_of(bytes) : 0;
  }
  /// Of a peer that has given credit within so many times the patience: it receives, and the next
  /// is waited for as many times the patience as is said here, whoever looks.
  static constexpr std::uint64_t lately = 100, patience_with_active = 20;
  [[nodiscard]] bool waits_for_credit(peer& p, std::uint64_t cost) noexcept;
  [[nodiscard]] bool is_patient(peer& p) const noexcept;
  status announce(request& r);
  void note_sent(peer& p, std::size_t bytes) noexcept {
    p.note_sent(bytes);
    counters_.eager.add();
  }

  peer_table& peers_;
  operations& ops_;
  rendezvous& rendezvous_;
  port_counters& counters_;
  const std::uint64_t patience_ns_;
  sync::loose<bool> awaits_credit_;
};

}  // namespace heddle::protocols
