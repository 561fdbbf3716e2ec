// SPDX-License-Identifier: BSD-3-Clause
// endpoint.h - one lane's way to all peers over tcp: posting, and who can be reached.
//
// A peer is lost when its connection ends. What had arrived completely is taken first; then its ops
// end, then it is reported.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backends/tcp/connector.h"
#include "backends/tcp/incoming_connections.h"
#include "backends/tcp/losses.h"
#include "backends/tcp/reader.h"
#include "backends/tcp/writer.h"
#include "base/lane_table.h"
#include "base/looks.h"
#include "transport/device.h"

namespace heddle::transport::tcp {

class tcp_endpoint final : public endpoint {
 public:
  tcp_endpoint(tcp_device& owner, int lane, const settings& config, memory::region_table& regions);
  ~tcp_endpoint() override;

  remote_lane* reach(rank peer, int lane) noexcept override;
  using endpoint::post;
  post_result post(std::span<op* const> ops) noexcept override;
  status send(remote_lane& to, message_head head, std::span<const std::byte> header,
              std::span<const std::byte> data) noexcept override;
  std::size_t poll(std::span<event> out) noexcept override;
  bool arm() noexcept override;
  [[nodiscard]] int fd() const noexcept override { return epoll_.get(); }
  void maintain() noexcept override;
  void drop(remote_lane& of) noexcept override;
  [[nodiscard]] bool idle() const noexcept override { return writer_.idle(); }

  /// Gives this lane a connection that a peer made. Any thread.
  void give(accepted who) { incoming_.give(std::move(who)); }

 private:
  [[gnu::noinline]] status send_rarely(remote_lane& to, message_head head,
                                       std::span<const std::byte> header,
                                       std::span<const std::byte> data) noexcept;
  status begin(op& o, connection& c) noexcept;
  status begin_route(peer_lane& peer) noexcept;

  /// The other end is this endpoint too.
  [[nodiscard]] bool is_self(const peer_lane& p) const noexcept {
    return p.peer == device_.self() && p.lane == lane_;
  }
  void make_connections() noexcept;
  void adopt(stream with, peer_lane& p, bool ours) noexcept;
  void use(connection& c) noexcept;
  void act_on_changes() noexcept;
  void begin_loss(peer_lane& p, status code, std::string why) noexcept;
  [[nodiscard]] bool nothing_to_do() const noexcept;
  void end_losses() noexcept;
  void close_all(peer_lane& p) noexcept;
  void tell(event_sink& sink) noexcept;

  // Constant after construction.
  tcp_device& device_;
  const int lane_;
  const std::uint64_t timeout_ms_;
  unique_fd epoll_;

  incoming_connections incoming_;

  // Owner thread only.
  shared_state shared_;
  connector connector_;
  writer writer_;
  reader reader_;
  losses losses_;
  lane_table<peer_lane> peers_;              // those it has spoken to
  std::optional<std::uint64_t> refused_at_;  // room_made when post() last answered busy
  looks looks_{now_ms()};                    // of maintain(), in ms
};

}  // namespace heddle::transport::tcp
