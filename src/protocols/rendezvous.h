// SPDX-License-Identifier: BSD-3-Clause
// rendezvous.h - large messages: the sender announces where the data lies (RTS), the receiver reads
// it when it has a place for it, and says so (FIN). Also called receiver-read, or read rendezvous.
// Over a wire that cannot read, but receives into memory that was posted to it, the RTS names no
// place: the receiver posts its memory and says so (CTS), and the sender delivers.
#pragma once
#include <cstddef>
#include <span>

#include "protocols/transfers.h"

namespace heddle::protocols {

/// Owns the announcements sent. What is fetched belongs to the receiving protocol, which starts and
/// ends it by what is offered here. Holder only.
class rendezvous final : public protocol {
 public:
  rendezvous(const surroundings& where, path& way, operations& ops, transfers& carriers,
             port_counters& counters)
      : protocol(way), where_(where), ops_(ops), transfers_(carriers), counters_(counters) {}

  // --- the sender -----------------------------------------------------------------------
  /// As dispatch::execute, for a send or a call.
  status send(peer& to, const command& c);
  status start(request& r) override;
  void ended(request& r, status code) override;
  /// A FIN or CTS.
  void on_message(peer& from, const message& m) override;

  // --- the receiver ---------------------------------------------------------------------
  /// Reads what `a` announces into `into`, as much as fits; the owner is told by ended().
  void fetch(request& r, const announcement& a, std::span<std::byte> into);
  /// For the owner's start().
  status start_fetch(request& r) {
    return r.by == carrier::deliveries ? start_receive(r) : transfers_.start(r);
  }
  /// For the owner's ended(), first of all: tells the sender. Returns what the receiver is told.
  status end_fetch(request& r, status code);
  /// What a receive with `room` bytes is told of a tagged message, with what end_fetch() returned.
  [[nodiscard]] static outcome received(const request& r, status code, std::size_t room) noexcept;

 private:
  [[nodiscard]] static bool delivers(const request& r) noexcept;
  status start_receive(request& r);
  void deliver(request& r, const message& cts);
  void lend(request& r, message& rts);
  void take_back(request& r, bool read);

  const surroundings& where_;
  operations& ops_;
  transfers& transfers_;
  port_counters& counters_;
};

}  // namespace heddle::protocols
