// SPDX-License-Identifier: BSD-3-Clause
// flow.h - messages of credit, and how long a message waits for one.
#pragma once
#include <cstdint>

#include "protocols/path.h"
#include "sync/relaxed.h"

namespace heddle::protocols {

/// Gives credit back, and takes what comes. Owns no requests. Holder only.
class flow final : public protocol {
 public:
  /// `patience_ns`: how long a message without credit waits for some before it is announced, where
  /// somebody looks; 0: not at all. For a peer that has given some lately it waits for longer.
  flow(path& way, std::uint64_t patience_ns) : protocol(way), patience_ns_(patience_ns) {}

  /// A message of `p` that took credit has been received. One message gives back that of many.
  void repay(peer& p, std::uint64_t cost) {
    if (p.credit.owe(cost) && !p.lost) [[unlikely]]
      give(p);
  }
  /// One that was fetched early took no credit. Its sender is told all the same, as often, that
  /// somebody receives: or it announces what waits for credit behind a thousand of these, which
  /// makes a thousand more.
  void tell_taken(peer& p, std::uint64_t cost) {
    if (p.credit.count_early(cost) && !p.lost) give(p);
  }
  void on_message(peer& from, const message& m) override;

  /// A message finds no credit: whether it waits for some, which an active receiver gives back
  /// soon. False: it is to be announced.
  [[nodiscard]] bool waits(peer& p, std::uint64_t cost) noexcept;
  /// Hint for any thread: a message waits, and has to be looked at again after a while though
  /// nothing may have come. It is known anew after new_look() and a start of what waits.
  [[nodiscard]] bool is_awaited() const noexcept { return awaited_.get(); }
  void new_look() noexcept { awaited_.set(false); }

 private:
  [[gnu::noinline]] void give(peer& p);
  [[nodiscard]] bool is_patient(peer& p) const noexcept;

  const std::uint64_t patience_ns_;
  sync::relaxed<bool> awaited_;
};

}  // namespace heddle::protocols
