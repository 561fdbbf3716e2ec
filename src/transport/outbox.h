// SPDX-License-Identifier: BSD-3-Clause
// outbox.h - events on their way to the engine, in order: what a poll has no room for comes out
// first the next time.
#pragma once
#include <cstddef>
#include <deque>
#include <span>
#include <string_view>
#include <utility>

#include "transport/event.h"

namespace heddle::transport {

class outbox {
 public:
  /// A poll begins.
  void open(std::span<event> out) noexcept {
    out_ = out;
    count_ = 0;
    while (!later_.empty() && !full()) {
      out_[count_++] = later_.front();
      later_.pop_front();
    }
  }
  /// And ends. Returns how many events it has.
  std::size_t close() noexcept {
    out_ = {};
    return std::exchange(count_, 0);
  }
  [[nodiscard]] bool full() const noexcept { return count_ >= out_.size(); }
  /// The poll under way has something to tell.
  [[nodiscard]] bool has_some() const noexcept { return count_ != 0; }
  /// Nothing waits for the next poll.
  [[nodiscard]] bool empty() const noexcept { return later_.empty(); }

  void ended(op& of, status how) noexcept {
    event& e = next(event::kind_t::ended, how, of.to);
    e.of = &of;
  }
  void arrived(remote_lane& from, std::span<const std::byte> bytes) noexcept {
    event& e = next(event::kind_t::arrived, status::done, &from);
    e.bytes = bytes;
  }
  void lost(remote_lane& peer, std::string_view why) noexcept {
    event& e = next(event::kind_t::peer_lost, status::peer_lost, &peer);
    e.bytes = bytes_of(why);
  }

 private:
  event& next(event::kind_t kind, status code, remote_lane* from) noexcept {
    event& e = full() ? later_.emplace_back() : out_[count_++];
    e.kind = kind;
    e.code = code;
    e.from = from;
    return e;
  }

  std::span<event> out_;
  std::size_t count_ = 0;
  std::deque<event> later_;
};

}  // namespace heddle::transport
