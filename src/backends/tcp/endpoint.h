// endpoint.h - one lane's way to all peers over tcp: posting, and who can be reached.
//
// A peer is lost when one of its connections ends. What had arrived completely on the others is
// taken first; then its ops end, then it is reported.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/tcp/arrivals.h"
#include "backends/tcp/connector.h"
#include "backends/tcp/losses.h"
#include "backends/tcp/reader.h"
#include "backends/tcp/writer.h"
#include "base/paged_table.h"
#include "transport/device.h"

namespace heddle::transport::tcp {

class tcp_endpoint final : public endpoint {
 public:
  /// Transfers of at least this are split over the rails.
  static constexpr std::size_t split_bytes = 256 * 1024;

  tcp_endpoint(tcp_device& owner, int lane, const settings& config, memory::region_table& regions);
  ~tcp_endpoint() override;

  using endpoint::post;
  post_result post(std::span<op* const> ops) noexcept override;
  status send(rank to, message_head head, std::span<const std::byte> header,
              std::span<const std::byte> data) noexcept override;
  std::size_t poll(std::span<event> out) noexcept override;
  bool arm() noexcept override;
  [[nodiscard]] int fd() const noexcept override { return epoll_.get(); }
  void maintain() noexcept override;
  void drop(rank peer) noexcept override;
  [[nodiscard]] bool idle() const noexcept override { return writer_.idle(); }

  /// Gives this lane a connection that a peer made. Any thread.
  void give(accepted who) { arrivals_.give(std::move(who)); }

 private:
  struct peer_state {
    enum class life : std::uint8_t { known, wanted, ending, lost };  // wanted: connecting was begun
    life is = life::known;
    std::array<connection*, max_rails> out{};  // chosen, of a peer that lives; null: none
  };

  // endpoint_path.cpp: posting
  /// What small ops and messages to `peer` go on; null: nothing, or there is no such peer.
  connection* route(rank peer) noexcept {
    const peer_state* known = peers_.find(static_cast<std::size_t>(peer));
    return known != nullptr ? known->out[0] : nullptr;
  }
  status begin(op& o, connection& c) noexcept;
  status begin_on_rails(op& o) noexcept;
  status begin_route(rank peer) noexcept;

  // endpoint.cpp: polling, connections and peers
  [[nodiscard]] bool valid(rank peer) const noexcept {
    return static_cast<std::size_t>(peer) < static_cast<std::size_t>(device_.size());
  }
  peer_state& state_of(rank peer);
  void make_connections() noexcept;
  void adopt(unique_fd fd, rank peer, int rail, bool ours) noexcept;
  void use(connection& c) noexcept;
  void act_on_changes() noexcept;
  void begin_loss(rank peer, std::string why) noexcept;
  [[nodiscard]] bool nothing_to_do() const noexcept;
  void close_all(rank peer) noexcept;
  void tell(event_sink& sink) noexcept;

  // Constant after construction.
  tcp_device& device_;
  const int lane_;
  const std::uint64_t timeout_ms_;
  unique_fd epoll_;

  arrivals arrivals_;

  // Owner thread only.
  shared_state shared_;
  connector connector_;
  writer writer_;
  reader reader_;
  losses losses_;
  paged_table<peer_state> peers_;            // by rank: those it has spoken to
  std::optional<std::uint64_t> refused_at_;  // room_made when post() last answered busy
};

}  // namespace heddle::transport::tcp
