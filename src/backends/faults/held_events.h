// SPDX-License-Identifier: BSD-3-Clause
// held_events.h - events that a faulty endpoint has not delivered yet: late, in parts, and out of
// order where the contract lets them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "backends/faults/chance.h"
#include "backends/faults/faults.h"
#include "transport/event.h"

namespace heddle::transport {

class held_events {
 public:
  /// Both outlive this.
  held_events(const fault_plan& plan, chance& random) : plan_(plan), random_(random) {}

  [[nodiscard]] bool empty() const noexcept { return events_.empty(); }
  [[nodiscard]] bool full() const noexcept;
  /// Its bytes are copied.
  void hold(const event& e);
  /// Returns how many. Their bytes stay valid until end_delivery(), and not a moment longer.
  std::size_t deliver(std::span<event> out);
  void end_delivery() noexcept { lent_.clear(); }
  /// Forgets the messages of `peer`.
  void drop_messages_of(const remote_lane& peer);

 private:
  struct held_event {
    event what;
    std::vector<std::byte> bytes;  // what `what.bytes` names
    std::uint64_t polls = 0;       // still to be held for
  };

  void lend(std::size_t index, event& out);
  [[nodiscard]] bool held_up(const event& e, std::size_t before) const noexcept;

  const fault_plan& plan_;
  chance& random_;
  std::deque<held_event> events_;
  std::vector<std::vector<std::byte>> lent_;  // bytes of what was delivered
};

}  // namespace heddle::transport
