// SPDX-License-Identifier: BSD-3-Clause
// rma.h - put, get and atomics that are not plain loads and stores of this process.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "protocols/transfers.h"

namespace heddle::protocols {

inline status check_range(const memory::remote_memory& there, std::uint64_t offset,
                          std::size_t bytes, rights needed) noexcept {
  if (offset > there.bytes || bytes > there.bytes - offset) return status::out_of_bounds;
  return allows(there.allowed, needed) ? status::done : status::denied;
}

/// All of a put or a get, as if the wire took it in one.
[[gnu::always_inline]] inline void describe_move(transport::op& o, transport::op_kind kind,
                                                 std::span<std::byte> memory,
                                                 memory::region_ref region,
                                                 std::uint64_t offset) noexcept {
  o.kind = kind;
  o.over = o.tells = false;
  o.memory = memory;
  o.region = region;
  o.offset = offset;
  o.place.by = 0;
}

/// Owns the program's puts, gets and atomics, and tells the target of a put's end where it asks for
/// that. Holder only.
class rma final : public protocol {
 public:
  rma(path& way, peer_table& peers, operations& ops, transfers& carriers)
      : protocol(way), peers_(peers), ops_(ops), transfers_(carriers) {}

  status begin(const command& c) override;
  /// The short way of a put or a get that the wire takes at once: posted or done. Anything else:
  /// nothing has happened, and begin() finds out why.
  template <command_kind Kind>
  [[gnu::always_inline]] status access_now(const memory::remote_memory& there, std::uint64_t offset,
                                           std::span<std::byte> memory, const completion& done) {
    constexpr bool out = Kind == command_kind::put;
    constexpr rights needed = out ? rights::write : rights::read;
    peer* const found = peers_.find(there.owner);
    if (found == nullptr || !found->is_free()) [[unlikely]]
      return status::busy_queue;
    peer& p = *found;
    // One less: of no bytes, which no wire gets, that is too many.
    const bool fits = memory.size() - 1 < (out ? p.max_put_at_once : p.max_get_at_once);
    if (!fits || check_range(there, offset, memory.size(), needed) != status::done ||
        allows(there.mapped, needed) || ops_.room().full()) [[unlikely]]
      return status::busy_queue;
    request& r = ops_.pool().take();
    describe_move(r, native_kind(Kind), memory, there.ref, offset);
    return post_straight(r, p, Kind, done);
  }

  status start(request& r) override;
  void ended(request& r, status code) override;

 private:
  status access_here(peer& p, const command& c);
  template <command_kind Kind>
  status access_as(const command& c);
  template <command_kind Kind>
  [[nodiscard]] bool goes_straight(const peer& p, const command& c) const noexcept;
  /// Anything but posted and done: nothing happened.
  [[gnu::always_inline]] status post_straight(request& r, peer& p, command_kind what,
                                              const completion& done) {
    r.to = p.wire.to;
    const status s = p.wire.by->post(r);
    if (s == status::posted) [[likely]]
      ops_.begin_direct(r, p, what, done);
    else
      ops_.pool().give_back(r);
    return s;
  }
  status submit(peer& p, const command& c);
  status put_signal(peer& p, const command& c);
  status submit_signal(peer& p, const command& c, bool data_is_there);
  void notify(peer& p, handler_id handler, std::uint64_t value);

  peer_table& peers_;
  operations& ops_;
  transfers& transfers_;
};

}  // namespace heddle::protocols
