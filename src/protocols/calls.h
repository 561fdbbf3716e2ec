// SPDX-License-Identifier: BSD-3-Clause
// calls.h - active messages on the receiver's side: small ones run on arrival, large ones are
// fetched into memory of ours first, so many bytes at a time. Handlers that are told at the header
// say themselves where the payload goes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "protocols/matched_messages.h"
#include "protocols/rendezvous.h"

namespace heddle::protocols {

/// Owns the large calls that are being fetched, or wait for memory. Holder only.
class calls final : public protocol {
 public:
  calls(engine::lane_core& lane, const surroundings& where, path& way, operations& ops,
        rendezvous& large, matched_messages& held, port_counters& counters)
      : protocol(way),
        lane_(lane),
        where_(where),
        ops_(ops),
        rendezvous_(large),
        held_(held),
        counters_(counters) {}

  /// One that travelled whole: its header, and behind it the payload.
  [[gnu::always_inline]] void on_eager(peer& p, handler_id h, std::span<const std::byte> body,
                                       std::size_t header_bytes) {
    const handler_entry* handler = where_.handlers[h].get();
    if (handler == nullptr) [[unlikely]]
      return on_other(p, h, body, header_bytes);
    ops_.out().add_call(lane_, *handler, p.address(), body, header_bytes);
  }
  void on_message(peer& from, const message& m) override;
  /// A notification of a put: its handler gets `operand` as the header.
  status say(peer& to, const message& m) override;

  status start(request& r) override { return rendezvous_.start_fetch(r); }
  void ended(request& r, status code) override;

  /// Between these two no deferred call begins: many end at once. What the first returns is for the
  /// second, since one may happen inside the other.
  [[nodiscard]] bool hold_back() noexcept { return std::exchange(starting_, true); }
  void go_on(bool as_before) {
    starting_ = as_before;
    start_deferred();
  }

 private:
  [[gnu::noinline]] void on_other(peer& p, handler_id h, std::span<const std::byte> body,
                                  std::size_t header_bytes);
  void tell_header(peer& p, const handler_entry& handler, std::span<const std::byte> header,
                   unexpected& payload);
  void on_rts(peer& p, const message& m);
  void start_deferred();
  void start_those_that_fit();
  void begin_fetch(request& r);
  void deliver(request& r);

  engine::lane_core& lane_;
  const surroundings& where_;
  operations& ops_;
  rendezvous& rendezvous_;
  matched_messages& held_;
  port_counters& counters_;
  request_queue deferred_;
  std::uint64_t bytes_ = 0;  // of those being fetched
  bool starting_ = false;
};

}  // namespace heddle::protocols
