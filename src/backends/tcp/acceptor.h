// SPDX-License-Identifier: BSD-3-Clause
// acceptor.h - the listening sockets and the connections that have not proved yet who they are.
#pragma once
#include <heddle/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <vector>

#include "backends/tcp/handshake.h"

namespace heddle::transport::tcp {

/// A connection that has proved to come from a lane of rank `from` of this job.
struct accepted {
  stream with;
  rank from = 0;
  int from_lane = 0;
  int lane = 0;  ///< ours
};

/// Hostile clients cost at most `most_strangers` descriptors, and a quarter of those that a process
/// may open: the job's own connections need some as well. A stranger has `patience_ms` to say
/// which rank it is, and in all as long as any silent peer to prove it: the machine may be full of
/// ranks that wait for a core. When there are as many as may be, a new one takes the place of the
/// oldest that has had `grace_ms`, or `patience_ms` if only its proof is missing. One thread at a
/// time.
class acceptor {
 public:
  static constexpr std::size_t most_strangers = 256;
  static constexpr std::uint64_t patience_ms = 3000, grace_ms = 250;

  /// Accepts from `listeners`, as rank `self` of `size`. `secret` outlives this. Connections are
  /// encrypted by one of `algorithms`, if there are any. `peer_timeout_ms` is the limit for a
  /// silent peer. Throws heddle::error.
  acceptor(std::vector<unique_fd> listeners, std::uint32_t self, std::uint32_t size,
           std::span<const std::byte, 32> secret, algorithm_set algorithms,
           std::uint64_t peer_timeout_ms);

  /// Readable when serve() has something to do.
  [[nodiscard]] int fd() const noexcept { return epoll_.get(); }
  /// Accepts, moves handshakes on, drops who is late. Adds to `out` who has proved itself.
  void serve(std::vector<accepted>& out);

 private:
  struct stranger {
    handshake talk;
    std::uint64_t since_ms;
  };

  /// How long `s` may take, while others have room, or while it takes the room of others.
  [[nodiscard]] std::uint64_t allowed_ms(const stranger& s, bool crowded) const noexcept;
  [[nodiscard]] bool is_late(const stranger& s, bool crowded) const noexcept;
  [[nodiscard]] bool is_full() const noexcept { return strangers_.size() >= most_; }
  void accept_all(int listener);
  [[nodiscard]] bool has_room() const noexcept;
  void advance_all(std::vector<accepted>& out);
  void listen_on(bool yes);
  void set_timer();

  std::uint32_t self_, size_;
  std::span<const std::byte, 32> secret_;
  algorithm_set algorithms_;
  std::uint64_t peer_timeout_ms_;
  std::size_t most_;  // strangers at a time
  unique_fd epoll_, timer_;
  std::vector<unique_fd> listeners_;
  bool listening_ = false;
  bool timing_ = false;            // the timer is set
  bool starved_ = false;           // the last accept found no descriptor or memory to be had
  std::list<stranger> strangers_;  // oldest first
};

}  // namespace heddle::transport::tcp
