// endpoint.h - one lane's connections to all peers over tcp.
//
// When output is written: the first post() to a connection since the last poll() or arm() writes
// at once, unless the peer owes answers to earlier ops, so a lone message is never delayed. Others
// are gathered and written together by the next poll() or arm(), or as soon as gather_bytes are
// waiting. So whoever posts must poll or arm before it turns to anything else, and many small
// messages cost one system call together.
//
// Both sides may begin to connect at once. Of what comes of that the lower rank chooses, for each
// rail, the first connection that is ready, and says so on it; the higher rank posts nothing
// before. Those that the peer made are chosen by whoever gives them, so that it need not wait until
// this lane is polled.
//
// A peer is lost when one of its connections ends. What had arrived completely on the others is
// taken first; then its ops end, then it is reported.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backends/tcp/acceptor.h"
#include "backends/tcp/connection.h"
#include "backends/tcp/device.h"
#include "sync/counters.h"
#include "transport/device.h"

namespace heddle::transport::tcp {

class tcp_endpoint final : public endpoint {
 public:
  static constexpr std::size_t gather_bytes = 16 * 1024;
  /// Transfers of at least this are split over the rails.
  static constexpr std::size_t split_bytes = 256 * 1024;
  /// With at most this many connections, poll() reads each instead of asking the kernel which, and
  /// they are in the epoll set only from arm() until so many polls after it.
  static constexpr std::size_t few = 4;
  static constexpr unsigned polls_watched = 16;

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
  [[nodiscard]] bool idle() const noexcept override;

  /// Gives this lane a connection that a peer made. Any thread.
  void give(accepted who);

 private:
  struct peer_state {
    enum class life : std::uint8_t { known, ending, lost };
    life is = life::known;
    bool started = false;                      // connecting was begun
    std::array<connection*, max_rails> out{};  // chosen, of a known peer; null: none
    std::uint64_t grace_until_ms = 0;  // ending: one it has chosen may still come; 0: none can
    std::string why;                   // ending, lost: for people
  };
  // A connection being made.
  struct attempt {
    handshake talk;
    rank peer;
    int rail;
    int tries;
    std::uint64_t since_ms;
  };

  // endpoint_path.cpp: post
  status begin(op& o, connection& c) noexcept;
  status begin_on_rails(op& o) noexcept;
  void settle(connection& c) noexcept;
  void settle_now(connection& c) noexcept;
  void mark_dirty(connection& c) noexcept {
    if (c.dirty) return;
    c.dirty = true;
    dirty_.push_back(&c);
  }

  // endpoint_poll.cpp: poll
  [[nodiscard]] bool has_ended() const noexcept { return !shared_.ended.empty() || !lost_.empty(); }
  [[nodiscard]] bool nothing_to_tell() const noexcept;
  void flush_dirty(bool retry_blocked) noexcept;
  void flush(connection& c) noexcept;
  void take_ended(event_sink& sink) noexcept;
  void read_all(event_sink& sink) noexcept;
  void read_few(event_sink& sink) noexcept;
  void read_ready(event_sink& sink) noexcept;
  void read(connection& c, event_sink& sink) noexcept;
  void watch(connection& c, std::uint32_t events) noexcept;
  void unwatch_few() noexcept;

  // endpoint_peers.cpp: connections and peers
  /// What small ops and messages to `peer` go on; null: nothing, or there is no such peer.
  connection* route(rank peer) noexcept {
    if (!valid(peer)) return nullptr;
    const peer_state* known = peers_[static_cast<std::size_t>(peer)].get();
    return known != nullptr ? known->out[0] : nullptr;
  }
  status begin_route(const op& o) noexcept;
  peer_state& state_of(rank peer);
  [[nodiscard]] bool valid(rank peer) const noexcept { return peer >= 0 && peer < size_; }
  void start(rank peer) noexcept;
  void start_rail(rank peer, int rail, int tries) noexcept;
  void advance_attempts() noexcept;
  void give_up(const attempt& a, const std::string& why) noexcept;
  void take_given() noexcept;
  void adopt(unique_fd fd, rank peer, int rail, bool ours) noexcept;
  [[nodiscard]] bool chooses(rank peer, bool ours) const noexcept;
  bool choose(const unique_fd& fd, rank peer, int rail);
  [[nodiscard]] bool is_needless(rank peer, int rail, bool ours) const noexcept;
  void use(connection& c) noexcept;
  void drop_spares() noexcept;
  void begin_loss(rank peer, const std::string& why) noexcept;
  void finish_losses() noexcept;
  [[nodiscard]] bool in_grace(rank peer) const noexcept;
  [[nodiscard]] bool said_all(rank peer) const noexcept;
  [[nodiscard]] bool losses_wait() const noexcept;
  void take_last_words(connection& c) noexcept;
  void close_all(rank peer) noexcept;

  // Constant after construction.
  tcp_device& device_;
  const int lane_;
  const int size_;
  const std::uint64_t timeout_ms_;
  unique_fd epoll_, doorbell_;
  unique_fd timer_;  // readable when a grace may be over

  // Owner thread only.
  shared_state shared_;
  std::vector<std::unique_ptr<peer_state>> peers_;  // by rank; null: never spoken to
  std::vector<std::unique_ptr<connection>> conns_;
  std::vector<std::unique_ptr<connection>> buried_;  // closed; messages may still lie in them
  std::vector<std::unique_ptr<attempt>> attempts_;
  std::vector<connection*> dirty_;              // with something to write
  std::vector<connection*> stalled_, reading_;  // to be read again at once
  std::vector<rank> ending_, lost_;             // lost_: not reported yet
  bool has_spares_ = false;                     // among conns_
  std::uint64_t epoch_ = 1, polls_ = 0;
  bool watching_ = false;                    // all connections are in the epoll set
  unsigned polls_awake_ = 0;                 // since arm()
  std::optional<std::uint64_t> refused_at_;  // room_made when post() last answered busy
  std::size_t turn_ = 0;                     // who was read last

  sync::event_bit was_given_;
  std::mutex given_mutex_;
  // Guarded by given_mutex_.
  std::vector<accepted> given_;
  std::set<std::pair<rank, int>> chosen_;  // peers and rails for which this side has chosen
};

}  // namespace heddle::transport::tcp
