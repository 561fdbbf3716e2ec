// SPDX-License-Identifier: BSD-3-Clause
// writer.h - when the output of a lane's connections is written.
//
// The first post to a connection since the last poll() or arm() writes at once, unless the peer
// owes answers to earlier ops, so a lone message is never delayed. Others are gathered
// (send_buffer::join) and written together by the next poll() or arm(), or as soon as gather_bytes
// are waiting. So whoever posts must poll or arm before it turns to anything else, and many small
// messages cost one system call together.
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

  /// To be called after something was posted on `c` that did not join what is gathered.
  void settle(connection& c) noexcept {
    send_buffer& frames = c.out().frames;
    const bool first = !frames.gathers();
    if (!first && !frames.has_gathered()) return;
    mark(c);
    if (!c.blocked && (!first || c.ops().owed() <= 1 || frames.size() > gather_bytes)) flush(c);
    frames.gather(gather_bytes);
  }
  /// `c` may have something to write, which can wait for flush().
  void mark(connection& c) noexcept {
    if (!std::exchange(c.dirty, true)) dirty_.push_back(&c);
  }
  /// Writes what there is, and finds out whether full sockets have room again if so wanted. From
  /// here on posts may write at once again.
  void flush(bool retry_blocked) noexcept {
    if (dirty_.empty()) return;
    std::erase_if(dirty_, [&](connection* c) {
      c->out().frames.gather(0);
      if (!c->out().empty() && (!c->blocked || retry_blocked)) flush(*c);
      c->dirty = !c->out().empty();
      return !c->dirty;
    });
  }
  template <class F>
  void forget(F gone) noexcept {
    std::erase_if(dirty_, [&](const connection* c) { return gone(*c); });
  }
  [[nodiscard]] bool idle() const noexcept {
    return std::ranges::all_of(dirty_, [](connection* c) { return c->out().empty(); });
  }

 private:
  void flush(connection& c) noexcept {
    const write_queue::flow f = c.flush();
    c.blocked = f != write_queue::flow::drained;
    if (f != write_queue::flow::broken) return;
    c.over = true;
    shared_.changed.push_back(&c);
  }

  shared_state& shared_;
  std::vector<connection*> dirty_;  // with something to write
};

}  // namespace heddle::transport::tcp
