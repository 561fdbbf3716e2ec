// endpoint.h - one lane: a socket that everybody sends to, and one for each peer it sends to.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "socket.h"
#include "transport/endpoint.h"

namespace unix_backend {

class device;

class endpoint final : public heddle::transport::endpoint {
 public:
  endpoint(device& owner, int lane);
  ~endpoint() override;

  heddle::transport::post_result post(
      std::span<heddle::transport::op* const> ops) noexcept override;
  std::size_t poll(std::span<heddle::transport::event> out) noexcept override;
  bool arm() noexcept override { return leaving_.empty(); }
  [[nodiscard]] int fd() const noexcept override { return epoll_; }
  void maintain() noexcept override;
  void drop(heddle::rank peer) noexcept override { lost_.insert(peer); }
  [[nodiscard]] bool idle() const noexcept override { return true; }  // the kernel has all of it

 private:
  struct peer {
    socket to;
    bool connected = false, watched = false;
  };
  peer* find(heddle::rank number) noexcept;
  sent send(heddle::rank number, const heddle::transport::op& o) noexcept;
  sent meet(heddle::rank number, peer& p) noexcept;
  void watch(peer& p, bool room) noexcept;
  bool take(heddle::transport::event& out, std::vector<std::byte>& buffer) noexcept;
  [[nodiscard]] head head_of(head::kind_t kind) const noexcept;

  device& device_;
  const int lane_;
  socket in_;
  int epoll_;  // in_, and peers that had no room
  std::map<heddle::rank, peer> peers_;
  std::set<heddle::rank> lost_;                  // nothing goes to them, nothing is taken from them
  std::vector<heddle::rank> leaving_;            // gone, but what they sent before is taken first
  std::vector<std::vector<std::byte>> buffers_;  // of the messages that the last poll reported
};

}  // namespace unix_backend
