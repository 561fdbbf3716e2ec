// connector.h - the connections that one lane is making.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backends/tcp/device.h"
#include "backends/tcp/handshake.h"
#include "backends/tcp/peer_lane.h"

namespace heddle::transport::tcp {

/// Owner thread only.
class connector {
 public:
  /// What came of it: a connection that has proved itself, or why there is none.
  struct outcome {
    peer_lane* peer;
    stream with;      ///< nothing: there is none
    std::string why;  ///< for people
  };

  /// Sockets are watched in `epoll`.
  connector(tcp_device& owner, int lane, int epoll) : device_(owner), lane_(lane), epoll_(epoll) {}

  [[nodiscard]] bool is_making_any() const noexcept { return !attempts_.empty(); }
  /// True when advance() has something to tell that no socket will.
  [[nodiscard]] bool has_news() const noexcept { return !outcomes_.empty(); }
  /// Begins to make one to `peer`.
  void start(peer_lane& peer) { attempt_to(peer, 1); }
  /// Goes as far as the sockets allow, and tells what has come of it.
  std::vector<outcome> advance();
  /// Those that have taken longer than `timeout_ms` come to nothing.
  void expire(std::uint64_t timeout_ms);
  /// Stops, without an outcome, making any to `peer`.
  void forget(const peer_lane& peer) noexcept {
    std::erase_if(attempts_, [&](const auto& a) { return a->peer == &peer; });
  }

 private:
  struct attempt {
    handshake talk;
    peer_lane* peer;
    int tries;
    std::uint64_t since_ms;
  };

  void attempt_to(peer_lane& peer, int tries);
  void give_up(const attempt& a, int error);

  tcp_device& device_;
  const int lane_;
  const int epoll_;
  std::vector<std::unique_ptr<attempt>> attempts_;
  std::vector<outcome> outcomes_;
};

}  // namespace heddle::transport::tcp
