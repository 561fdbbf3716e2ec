// acceptor.h - the listening sockets and the connections that have not proved yet who they are.
#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <vector>

#include "backends/tcp/handshake.h"

namespace heddle::transport::tcp {

/// A connection that has proved to come from rank `from` of this job.
struct accepted {
  unique_fd fd;
  std::uint32_t from = 0;
  std::uint16_t lane = 0;
  std::uint8_t rail = 0;
};

/// Hostile clients cost at most `most_strangers` descriptors, each for at most `patience`; when
/// there are that many, a new one takes the place of the oldest, if that has had `grace`.
/// One thread at a time.
class acceptor {
 public:
  static constexpr std::size_t most_strangers = 256;
  static constexpr std::chrono::milliseconds patience{3000}, grace{250};

  /// Listens at every rail and sets its port. `secret` outlives this. Throws heddle::error.
  acceptor(std::vector<rail_address>& rails, std::uint32_t self, std::uint32_t size,
           std::span<const std::byte, 32> secret);

  /// Readable when serve() has something to do.
  [[nodiscard]] int fd() const noexcept { return epoll_.get(); }
  /// Accepts, moves handshakes on, drops who is late. Adds to `out` who has proved itself.
  void serve(std::vector<accepted>& out);
  [[nodiscard]] std::size_t strangers() const noexcept { return strangers_.size(); }

 private:
  using clock = std::chrono::steady_clock;
  struct stranger {
    handshake talk;
    clock::time_point since;
  };

  void accept_all(int listener);
  [[nodiscard]] bool has_room() const noexcept;
  bool make_room() noexcept;
  void admit(unique_fd fd);
  void advance_all(std::vector<accepted>& out);
  void drop_late();
  void watch(int fd, bool writing, bool added);
  void listen_on(bool yes);
  void set_timer();

  std::uint32_t self_, size_;
  std::span<const std::byte, 32> secret_;
  unique_fd epoll_, timer_;
  std::vector<unique_fd> listeners_;
  bool listening_ = false;
  bool timing_ = false;            // the timer is set
  bool starved_ = false;           // the last accept found no unique_fd or memory to be had
  std::list<stranger> strangers_;  // oldest first
};

}  // namespace heddle::transport::tcp
