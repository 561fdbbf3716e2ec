// SPDX-License-Identifier: BSD-3-Clause
// device.h - one process's segment, the peers it knows, and its lanes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/shm/imported_regions.h"
#include "backends/shm/known_peers.h"
#include "backends/shm/own_segment.h"
#include "backends/shm/peer_process.h"
#include "transport/device.h"

namespace heddle::transport::shm {

class shm_device final : public device {
 public:
  /// Throws error: what this machine lacks, or which setting is impossible.
  explicit shm_device(const context& where);
  ~shm_device() override;

  [[nodiscard]] const traits& describe() const noexcept override { return traits_; }
  [[nodiscard]] std::vector<std::byte> address() const override { return own_.address(mine_); }
  /// One peer of each kind of credentials is tried at once, and if the kernel does not let us copy
  /// its memory, put and get are taken out of traits::native for all. The others are believed to be
  /// the same until they are needed: what a peer costs before is its address. All peers are added
  /// before any endpoint is used.
  std::string add_peer(rank peer, std::span<const std::byte> address, bool same_host) override;
  std::unique_ptr<endpoint> make_endpoint(int lane) override;
  void expose(const memory::local_region& region) noexcept override { own_.expose(region); }
  void withdraw(const memory::local_region& region) noexcept override { own_.withdraw(region); }
  std::shared_ptr<void> import(rank peer, memory::region_ref region,
                               detail::remote_target& out) override;
  [[nodiscard]] int fd() const noexcept override { return own_.bell(); }
  int serve() noexcept override;

  // For this device's endpoints; any thread.

  [[nodiscard]] rank self() const noexcept { return self_; }
  /// This process's segment.
  [[nodiscard]] segment& memory() const noexcept { return own_.memory(); }
  [[nodiscard]] std::size_t ring_bytes() const noexcept { return ring_bytes_; }
  /// For how long descriptors or memory may lack for a peer or its ring until it is lost.
  [[nodiscard]] std::uint64_t patience_ns() const noexcept { return patience_ns_; }
  /// As known_peers::find().
  [[nodiscard]] std::shared_ptr<peer_process> find_peer(rank peer);
  /// As known_peers::stand_in().
  [[nodiscard]] std::shared_ptr<peer_process> stand_in(rank peer) const {
    return peers_.stand_in(peer);
  }
  /// As imported_regions::mark_lost().
  void mark_lost(rank peer) noexcept;
  /// As known_peers::add_sleeper(); each lane once.
  void add_lane(int lane, lane_sleep& sleep);
  void remove_lane(lane_sleep& sleep) noexcept;

 private:
  void refuse_native_copies(std::string_view of);
  void open_announcers() noexcept;

  // Constant after construction, except traits_: see add_peer().
  rank self_;
  credentials mine_;
  std::size_t ring_bytes_;
  std::uint64_t patience_ns_;
  traits traits_;
  own_segment own_;

  std::mutex mutex_;  // guards what follows
  known_peers peers_;
  imported_regions imports_;
  std::vector<bool> made_;       // by lane: an endpoint was made
  std::vector<bool> asked_for_;  // or serve() has reported it
};

}  // namespace heddle::transport::shm
