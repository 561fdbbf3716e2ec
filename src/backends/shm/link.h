// SPDX-License-Identifier: BSD-3-Clause
// link.h - one endpoint's way to and from one lane of a peer: two rings and a bell.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "backends/shm/peer_process.h"
#include "backends/shm/ring_file.h"
#include "transport/remote_lane.h"

namespace heddle::transport::shm {

/// Owned by an endpoint and used by its thread only. The hot path works on the rings directly.
class link final : public remote_lane {
 public:
  link(std::shared_ptr<peer_process> to, int number);

  enum class state_t : std::uint8_t {
    unmet,  ///< `process` stands in for one that is to be opened yet
    open,
    ending,  ///< the peer is gone; what it sent is still being delivered
    lost,    ///< reported, or dropped
  };
  [[nodiscard]] bool is_over() const noexcept {
    return state == state_t::ending || state == state_t::lost;
  }
  /// Its process could be opened at last.
  void meet(std::shared_ptr<peer_process> opened) noexcept;
  /// Makes the ring to the peer and announces it. Throws error when it cannot be, shortage when
  /// this process lacks descriptors or memory.
  void open_outgoing(const ring_name& name, std::size_t bytes);
  /// Maps the ring that the peer announced as its descriptor `fd`. Throws error when it is not what
  /// it should be, shortage when this process lacks descriptors or memory.
  void open_incoming(int fd, const ring_name& name);

  /// Why it cannot be used, where that is neither its process's end nor what it wrote.
  void note(const char* why) noexcept;

  /// After publishing something for the peer's lane: wakes it if it sleeps.
  void wake() noexcept {
    if (there->asleep.should_wake(how)) [[unlikely]]
      ring();
  }
  /// Rings that could not be done for lack of a descriptor. False: still not.
  [[nodiscard]] bool ring_owed() noexcept;
  /// Closes what is no longer needed once the peer has mapped our ring.
  void trim() noexcept;
  /// Whether everything sent is in memory that the peer has mapped.
  [[nodiscard]] bool settled() const noexcept;
  void close_rings() noexcept;
  /// For people: why it is not open any more. Valid as long as the link.
  [[nodiscard]] std::string_view why() noexcept;

  std::shared_ptr<peer_process> process;
  lane_slot* there;  // the peer's lane
  sync::glance how;  // we may look at its sleep words
  state_t state = state_t::open;
  bool blocked = false;  // among the blocked_links: a message of blocked_bytes found no room
  bool corrupt = false;  // the incoming ring makes no sense any more
  std::size_t blocked_bytes = 0;
  std::uint64_t short_since_ns = 0;  // when a post first lacked descriptors or memory; 0: does not
  std::optional<sync::ring_producer> out;  // set once announced
  std::optional<sync::ring_consumer> in;

 private:
  void ring() noexcept;
  void announce_to_device() noexcept;

  owned_fd bell_;
  bool owes_ring_ = false;
  std::string why_;
  ring_file out_file_, in_file_;
};

}  // namespace heddle::transport::shm
