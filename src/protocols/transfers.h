// SPDX-License-Identifier: BSD-3-Clause
// transfers.h - puts, gets and atomics on a peer's memory, and fetches of large messages: by which
// way each is carried out.
//
// A mapping where there is one, else the wire, else messages. What this process's processor copies
// goes in pieces by turns when it is long, and what several wires could carry goes over all.
#pragma once
#include "protocols/fragments.h"
#include "protocols/path.h"
#include "protocols/pieces.h"
#include "protocols/stripes.h"

namespace heddle::protocols {

/// Holder only.
class transfers {
 public:
  transfers(const surroundings& where, path& way, operations& ops, port_counters& counters);

  /// As protocol::start, for a request with kind, region, local and base. What it answers posted
  /// ends by protocol::ended() of the owner.
  status start(request& r);
  /// The wire has ended what it had of `r`.
  void wire_ended(request& r, status code);

  [[nodiscard]] fragments& by_messages() noexcept { return fragments_; }
  [[nodiscard]] pieces& by_turns() noexcept { return pieces_; }
  [[nodiscard]] const pieces& by_turns() const noexcept { return pieces_; }

  /// The wire of the peer's messages does it itself, unless it is too large.
  [[nodiscard]] static bool is_native(const peer& p, transport::op_kind kind, atomic_op what,
                                      unsigned width) noexcept {
    if (kind == transport::op_kind::atomic) return p.native_atomics.has(what, width);
    return p.takes(kind);
  }

 private:
  path& path_;
  fragments fragments_;
  stripes stripes_;
  pieces pieces_;
};

}  // namespace heddle::protocols
