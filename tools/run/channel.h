// SPDX-License-Identifier: BSD-3-Clause
// channel.h - messages between the launcher and one agent, over a pair of pipes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bootstrap/launcher_protocol.h"  // unique_fd
#include "run/agent_protocol.h"
#include "run/event_loop.h"

namespace heddle::tools {

/// One side of a channel. Sending never waits. One thread.
class channel {
 public:
  struct handlers {
    /// The other side's greeting, before its first message. Only with `scan`.
    std::function<void(const agent_protocol::greeting&)> greeted;
    std::function<void(agent_protocol::message)> take;
    /// Nothing more will come. `why` is empty when the other side has just closed. Once.
    std::function<void(const std::string& why)> ended;
  };

  /// `scan`: the other side greets, maybe after the noise of a login. Both descriptors become
  /// non-blocking, for everybody who shares them. Handlers must not destroy the channel.
  channel(event_loop& loop, unique_fd in, unique_fd out, handlers to, bool scan);
  ~channel() { close(); }
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;

  /// Dropped once the channel is closed.
  void send(const agent_protocol::message& m);
  /// Bytes as they are.
  void send(std::span<const std::byte> bytes);
  /// Waits until all that was sent is on its way, but for `ms` milliseconds at most.
  void drain(int ms);
  /// Closes it for both directions; no handler is called any more.
  void close();
  [[nodiscard]] bool closed() const noexcept { return !in_; }

  /// What comes from now on may be as long as what ranks of a job of `ranks` are answered.
  void expect_ranks(int ranks) noexcept { parser_.expect_ranks(ranks); }

  /// From now on pings the other side, and calls `silent` (once) when nothing has come from there
  /// for `seconds`. These are counted, not measured: a process that was stopped has not waited.
  void watch_silence(int seconds, std::function<void()> silent);
  /// While the other side is stopped, its silence means nothing.
  void pause_watch(bool paused) noexcept { paused_ = paused; }

  /// The last line that came instead of a greeting.
  [[nodiscard]] std::string noise() const { return scanner_ ? scanner_->noise() : std::string(); }

 private:
  void read_some();
  void take(std::span<const std::byte> received);
  void parse();
  void end(const std::string& why);
  bool write_some();
  void beat();

  event_loop& loop_;
  unique_fd in_, out_;
  handlers to_;
  std::optional<agent_protocol::greeting_scanner> scanner_;  ///< until the greeting is there
  agent_protocol::message_parser parser_;
  std::vector<std::byte> unsent_;
  std::size_t sent_ = 0;  ///< of unsent_
  std::function<void()> silent_;
  std::uint64_t beat_ms_ = 0;
  int quiet_beats_ = 0;
  bool paused_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  ///< false: timers do nothing
};

}  // namespace heddle::tools
