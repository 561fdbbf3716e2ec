// SPDX-License-Identifier: BSD-3-Clause
// reader.h - the connections of a lane: which of them a poll reads, and what the kernel watches.
//
// Few connections are read each, instead of asking the kernel which to read. A socket in an epoll
// set costs its sender about 1 us per packet, so few of them are there only from arm() until so
// many polls after it. Many stay: then it is the set that says which to read.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "backends/tcp/connection.h"
#include "backends/tcp/writer.h"

namespace heddle::transport::tcp {

/// Owner thread only.
class reader {
 public:
  static constexpr std::size_t few = 4;
  static constexpr unsigned polls_watched = 16;

  /// Answers go to `answers`; sockets are watched in `epoll`.
  reader(int epoll, shared_state& shared, writer& answers) noexcept
      : epoll_(epoll), shared_(shared), writer_(answers) {}

  [[nodiscard]] const std::vector<std::unique_ptr<connection>>& all() const noexcept {
    return conns_;
  }
  connection& add(std::unique_ptr<connection> made);
  [[nodiscard]] bool has_any(const remote_lane& peer) const noexcept {
    return std::ranges::any_of(conns_, [&](const auto& c) { return &c->peer() == &peer; });
  }
  /// True when nothing more will be read from `peer`.
  [[nodiscard]] bool has_taken_all(const remote_lane& peer) const noexcept {
    return std::ranges::all_of(conns_,
                               [&](const auto& c) { return &c->peer() != &peer || c->exhausted; });
  }
  /// Ends what is in flight on those to `peer` but `kept`, and closes them. Messages that were
  /// taken from them stay until the next poll.
  void close_all_to(const remote_lane& peer, const connection* kept = nullptr) noexcept;
  /// Nothing is written to it any more, and it is read until it has nothing more to say.
  void read_to_end(connection& c) noexcept;

  void begin_poll() noexcept;
  /// Reads those that may have something, each for a turn.
  void read(event_sink& sink) noexcept;
  /// See endpoint::arm.
  bool arm() noexcept;

 private:
  void read_few(event_sink& sink) noexcept;
  void read_ready(event_sink& sink) noexcept;
  void read(connection& c, event_sink& sink) noexcept;
  void soon(connection& c) noexcept;
  void watch(connection& c, std::uint32_t events) const noexcept;

  const int epoll_;
  shared_state& shared_;
  writer& writer_;
  std::vector<std::unique_ptr<connection>> conns_;
  std::vector<std::unique_ptr<connection>> closed_;
  std::vector<connection*> stalled_, reading_;  // to be read again at once
  std::uint64_t polls_ = 0;
  bool watching_ = false;     // all connections are in the epoll set
  unsigned polls_awake_ = 0;  // since arm()
  std::size_t turn_ = 0;      // who was read last
};

}  // namespace heddle::transport::tcp
