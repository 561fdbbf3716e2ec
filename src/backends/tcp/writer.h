// SPDX-License-Identifier: BSD-3-Clause
// writer.h - when the output of a lane's connections is written.
//
// The first post to a connection since the last poll() or arm() writes at once, unless the peer
// owes answers to earlier ops, so a lone message is never delayed. Others are gathered and written
// together by the next poll() or arm(), or as soon as gather_bytes are waiting. So whoever posts
// must poll or arm before it turns to anything else, and many small messages cost one system call
// together.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "backends/tcp/connection.h"

namespace heddle::transport::tcp {

/// Owner thread only.
class writer {
 public:
  static constexpr std::size_t gather_bytes = 16 * 1024;

  explicit writer(shared_state& shared) noexcept : shared_(shared) {}

  /// To be called after something was posted on `c`.
  void settle(connection& c) noexcept {
    if (c.gathers_in != epoch_ || c.out().buffered() >= gather_bytes) [[unlikely]]
      settle_now(c);
  }
  /// `c` may have something to write, which can wait for flush().
  void mark(connection& c) noexcept {
    if (!std::exchange(c.dirty, true)) dirty_.push_back(&c);
  }
  /// Writes what there is, and finds out whether full sockets have room again if so wanted.
  void flush(bool retry_blocked) noexcept {
    if (dirty_.empty()) return;
    std::erase_if(dirty_, [&](connection* c) {
      if (!c->out().empty() && (!c->blocked || retry_blocked)) flush(*c);
      c->dirty = !c->out().empty();
      return !c->dirty;
    });
  }
  /// From here on posts may write at once again.
  void next_turn() noexcept { ++epoch_; }
  template <class F>
  void forget(F gone) noexcept {
    std::erase_if(dirty_, [&](const connection* c) { return gone(*c); });
  }
  [[nodiscard]] bool idle() const noexcept {
    return std::ranges::all_of(dirty_, [](connection* c) { return c->out().empty(); });
  }

 private:
  void settle_now(connection& c) noexcept {
    const bool first = std::exchange(c.gathers_in, epoch_) != epoch_;
    mark(c);
    if (c.blocked) return;
    if ((first && c.ops().owed() <= 1) || c.out().buffered() >= gather_bytes) flush(c);
  }
  void flush(connection& c) noexcept {
    const outbox::flow f = c.flush();
    c.blocked = f != outbox::flow::drained;
    if (f != outbox::flow::broken) return;
    c.over = true;
    shared_.changed.push_back(&c);
  }

  shared_state& shared_;
  std::vector<connection*> dirty_;  // with something to write
  std::uint64_t epoch_ = 1;
};

}  // namespace heddle::transport::tcp
