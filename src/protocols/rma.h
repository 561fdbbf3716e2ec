// SPDX-License-Identifier: BSD-3-Clause
// rma.h - put, get and atomics that are not plain loads and stores of this process.
#pragma once
#include <cstdint>

#include "protocols/transfers.h"

namespace heddle::protocols {

/// Owns the program's puts, gets and atomics, and tells the target of a put's end where it asks for
/// that. Holder only.
class rma final : public protocol {
 public:
  rma(path& way, peer_table& peers, operations& ops, transfers& carriers)
      : protocol(way), peers_(peers), ops_(ops), transfers_(carriers) {}

  /// As dispatch::execute.
  status access(const command& c);

  status start(request& r) override;
  void ended(request& r, status code) override;

 private:
  status access_here(peer& p, const command& c);
  template <command_kind Kind>
  status access_as(const command& c);
  template <command_kind Kind>
  [[nodiscard]] bool goes_straight(const peer& p, const command& c) const noexcept;
  template <command_kind Kind>
  status post_straight(peer& p, const command& c);
  status submit(peer& p, const command& c);
  status put_signal(peer& p, const command& c);
  status submit_signal(peer& p, const command& c, bool data_is_there);
  void notify(peer& p, handler_id handler, std::uint64_t value);

  peer_table& peers_;
  operations& ops_;
  transfers& transfers_;
};

}  // namespace heddle::protocols
