// SPDX-License-Identifier: BSD-3-Clause
// held_ops.h - ops that a faulty endpoint has accepted and not handed on yet.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "backends/faults/chance.h"
#include "backends/faults/faults.h"
#include "transport/op.h"

namespace heddle::transport {

class held_ops {
 public:
  /// `ordered`: a send stays behind earlier puts. All three outlive this.
  held_ops(const fault_plan& plan, bool ordered, chance& random)
      : plan_(plan), ordered_(ordered), random_(random) {}

  [[nodiscard]] bool empty() const noexcept { return ops_.empty(); }
  [[nodiscard]] bool full() const noexcept;
  /// It is late, or one that is held has to go before it.
  [[nodiscard]] bool must_hold(const op& o) const noexcept;
  /// A send is copied, and over for its poster; the buffers of other ops are used when they go on.
  void hold(op& o);
  /// Hands on those whose time has come, oldest first. `pass_on(op)` answers false when there is no
  /// room for it now.
  void release(const std::function<bool(op&)>& pass_on);
  /// Every held op needs room, or an earlier one to go first that does.
  [[nodiscard]] bool only_wait_for_room() const noexcept;
  /// Forgets those for `peer`. `on_end(op)` is called for each before.
  void drop_all_of(const remote_lane& peer, const std::function<void(op&)>& on_end);

 private:
  struct held_op {
    op* of = nullptr;  // null: a send, of which `sent` is a copy
    op sent;
    std::uint64_t polls = 0;                      // still to be held for
    std::chrono::steady_clock::time_point until;  // held till then, if it is late
    bool waiting = false;                         // there was no room for it when it was to go on
    std::vector<std::byte> message;  // a send's header and data, which sent.memory names

    [[nodiscard]] op& what() noexcept { return of != nullptr ? *of : sent; }
    [[nodiscard]] const op& what() const noexcept { return of != nullptr ? *of : sent; }
  };

  [[nodiscard]] std::chrono::microseconds lateness(const op& o) const noexcept;
  [[nodiscard]] bool must_follow(const op& later, const op& earlier) const noexcept;
  [[nodiscard]] bool blocked(const op& o, std::size_t before) const noexcept;

  const fault_plan& plan_;
  const bool ordered_;
  chance& random_;
  std::deque<held_op> ops_;
  std::chrono::steady_clock::time_point late_until_;  // what is late goes one after the other
};

}  // namespace heddle::transport
