// SPDX-License-Identifier: BSD-3-Clause
// connector.h - the connections that one lane is making.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backends/tcp/device.h"
#include "backends/tcp/handshake.h"
#include "backends/tcp/peer_lane.h"

namespace heddle::transport::tcp {

/// Of the ways to a peer the next one is tried when one fails, or has not answered for a while;
/// then they are tried at once. The first that proves to lead to the peer is taken, and only there
/// does this side prove itself, so that no more than one comes of it. Owner thread only.
class connector {
 public:
  /// How long a way is tried alone.
  static constexpr std::uint64_t patience_ms = 250;

  /// What came of it: a connection that has proved itself, or why there is none.
  struct outcome {
    peer_lane* peer;
    stream with;      ///< nothing: there is none
    std::string why;  ///< for people
  };

  /// Sockets are watched in `epoll`. Throws heddle::error: no descriptors are left.
  connector(tcp_device& owner, int lane, int epoll);

  [[nodiscard]] bool is_making_any() const noexcept { return !searches_.empty(); }
  /// True when advance() has something to tell that no socket will.
  [[nodiscard]] bool has_news() const noexcept { return !outcomes_.empty(); }
  /// Begins to make one to `peer`.
  void start(peer_lane& peer);
  /// Goes as far as the sockets allow, and tells what has come of it.
  std::vector<outcome> advance();
  /// Those that have taken longer than `timeout_ms` come to nothing. `away_ms` as in is_stuck().
  void expire(std::uint64_t timeout_ms, std::uint64_t away_ms);
  /// Stops, without an outcome, making any to `peer`.
  void forget(const peer_lane& peer) noexcept;

 private:
  struct attempt {
    handshake talk;
    std::size_t way;
  };
  /// For one peer. The ways before `next` were tried in this round; `running` are those still open.
  struct search {
    peer_lane* peer = nullptr;
    std::vector<tcp_device::way> ways;
    std::uint64_t since_ms = now_ms();
    std::size_t next = 0;
    int round = 1;
    std::uint64_t tried_at_ms = 0;
    std::vector<std::unique_ptr<attempt>> running;
    std::vector<std::string> reasons;  // by way: why not
  };

  [[nodiscard]] hello hello_to(const peer_lane& peer) const;
  void try_next(search& s);
  void try_way(search& s, std::size_t way);
  [[nodiscard]] bool go_on(search& s);
  [[nodiscard]] bool succeed(search& s, attempt& a);
  [[nodiscard]] bool give_up(const search& s);
  void tell_of_refusal(const search& s, std::size_t way) const;
  void set_timer() noexcept;

  tcp_device& device_;
  const int lane_;
  const int epoll_;
  unique_fd timer_;
  bool timing_ = false;  // it is set
  std::vector<std::unique_ptr<search>> searches_;
  std::vector<outcome> outcomes_;
};

}  // namespace heddle::transport::tcp
