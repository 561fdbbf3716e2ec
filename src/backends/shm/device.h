// SPDX-License-Identifier: BSD-3-Clause
// device.h - one process's segment, the peers it has verified, and the regions it has mapped.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "backends/shm/os.h"
#include "backends/shm/peer_process.h"
#include "backends/shm/segment.h"
#include "transport/device.h"

namespace heddle::transport::shm {

class shm_endpoint;

class shm_device final : public device {
 public:
  /// Throws error: what this machine lacks, or which setting is impossible.
  explicit shm_device(const context& where);
  ~shm_device() override;

  [[nodiscard]] const traits& describe() const noexcept override { return traits_; }
  [[nodiscard]] std::vector<std::byte> address() const override;
  /// One peer of each kind of credentials is tried at once, and if the kernel does not let us copy
  /// its memory, put and get are taken out of traits::native for all. The others are believed to be
  /// the same until they are needed: what a peer costs before is its address. All peers are added
  /// before any endpoint is used.
  std::string add_peer(rank peer, std::span<const std::byte> address, bool same_host) override;
  std::unique_ptr<endpoint> make_endpoint(int lane) override;
  void expose(const memory::local_region& region) noexcept override;
  void withdraw(const memory::local_region& region) noexcept override;
  std::shared_ptr<void> import(rank peer, memory::region_ref region,
                               detail::remote_target& out) override;
  [[nodiscard]] int fd() const noexcept override { return bell_.read.get(); }
  int serve() noexcept override;

  // For this device's endpoints; any thread.

  [[nodiscard]] rank self() const noexcept { return self_; }
  [[nodiscard]] const token& secret() const noexcept { return memory().secret; }
  [[nodiscard]] std::size_t ring_bytes() const noexcept { return ring_bytes_; }
  /// For how long a ring may lack descriptors or memory until its sender is lost.
  [[nodiscard]] std::uint64_t patience_ns() const noexcept { return patience_ns_; }
  [[nodiscard]] bool can_fence() const noexcept { return memory().can_fence == 1; }
  [[nodiscard]] lane_slot& slot(int lane) const noexcept {
    return memory().lanes[static_cast<std::size_t>(lane)];
  }
  /// Opens it when it is needed first; one that is gone or cannot be reached, also for want of
  /// descriptors or memory, says so from then on. nullptr: not added. Throws bad_alloc.
  [[nodiscard]] std::shared_ptr<peer_process> find_peer(rank peer);
  /// Direct operations on the peer's regions find them withdrawn from now on.
  void bury(rank peer) noexcept;
  /// Makes the ends of this device's peers, present and later ones, wake the endpoint. Throws.
  void enlist(shm_endpoint& lane);
  void discharge(shm_endpoint& lane) noexcept;

 private:
  struct imported;
  using region_name = std::tuple<rank, std::uint32_t, std::uint32_t>;

  [[nodiscard]] segment& memory() const noexcept {
    return *reinterpret_cast<segment*>(mapping_.data());
  }
  void set_up_segment();
  void refuse_native_copies() noexcept;
  static void tell_of_no_copies(std::string_view whose);
  // With mutex_ held.
  [[nodiscard]] const peer_address* address_of(rank peer) const noexcept;
  void remember(const peer_address& where);
  std::shared_ptr<peer_process> open_peer(const peer_address& where);
  void announce(const std::shared_ptr<peer_process>& peer);
  void open_announcers() noexcept;
  std::shared_ptr<imported> map_region(const std::shared_ptr<peer_process>& peer,
                                       memory::region_ref region) const;
  void forget_unused_imports();
  void wake_everybody() noexcept;

  // Constant after construction, except traits_: see add_peer().
  rank self_;
  credentials mine_;
  std::size_t ring_bytes_;
  std::uint64_t patience_ns_;
  traits traits_;
  owned_fd file_;
  mapping mapping_;
  bell_pipe bell_;
  owned_fd life_line_;
  std::shared_ptr<mapping> nowhere_;  // set aside now: it is needed when there is no memory

  mutable std::mutex mutex_;             // guards what follows
  std::vector<peer_address> addresses_;  // of all peers that were added, by rank
  std::vector<credentials> tried_;       // a peer that has these was reached
  std::unordered_map<rank, std::shared_ptr<peer_process>> peers_;  // those opened
  std::map<region_name, std::weak_ptr<imported>> imports_;
  std::size_t forget_at_ = 64;
  std::vector<shm_endpoint*> endpoints_;  // by lane; nullptr: closed or not there yet
  std::vector<bool> made_;                // by lane: an endpoint was made
  std::vector<bool> asked_for_;           // or serve() has reported it
};

}  // namespace heddle::transport::shm
