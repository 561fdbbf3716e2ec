// SPDX-License-Identifier: BSD-3-Clause
// endpoint.h - one lane: a socket that everybody sends to, and one for each lane it sends to.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "socket.h"
#include "transport/endpoint.h"

namespace unix_backend {

class device;

/// One lane of a peer: the socket that we send to it on, and how far it is from being lost.
struct peer_lane final : heddle::transport::remote_lane {
  using remote_lane::remote_lane;
  enum class life : std::uint8_t { here, leaving, lost };  // leaving: gone, but not told yet
  life is = life::here;
  socket out;
  bool connected = false, watched = false;
};

class endpoint final : public heddle::transport::endpoint {
 public:
  endpoint(device& owner, int lane);
  ~endpoint() override;

  heddle::transport::remote_lane* reach(heddle::rank peer, int lane) noexcept override;
  using heddle::transport::endpoint::post;
  heddle::transport::post_result post(
      std::span<heddle::transport::op* const> ops) noexcept override;
  std::size_t poll(std::span<heddle::transport::event> out) noexcept override;
  bool arm() noexcept override;
  [[nodiscard]] int fd() const noexcept override { return epoll_; }
  void maintain() noexcept override;
  void drop(heddle::transport::remote_lane& of) noexcept override {
    static_cast<peer_lane&>(of).is = peer_lane::life::lost;
  }
  [[nodiscard]] bool idle() const noexcept override { return true; }  // the kernel has all of it

 private:
  sent hand_over(peer_lane& to, const heddle::transport::op& o) noexcept;
  sent meet(peer_lane& to) noexcept;
  void watch(peer_lane& p, bool room) noexcept;
  bool take(heddle::transport::event& out, std::vector<std::byte>& buffer) noexcept;
  [[nodiscard]] head head_of(head::kind_t kind) const noexcept;

  device& device_;
  const int lane_;
  socket in_;
  int epoll_;                                                // in_, and peers that had no room
  std::map<std::pair<heddle::rank, int>, peer_lane> peers_;  // by rank and lane
  std::vector<std::vector<std::byte>> buffers_;  // of the messages that the last poll reported
};

}  // namespace unix_backend
