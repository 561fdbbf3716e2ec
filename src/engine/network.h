// SPDX-License-Identifier: BSD-3-Clause
// network.h - what a rank knows of its job's network: who is on which host, which devices it has
// itself, and which of them leads to whom.
#pragma once
#include <heddle/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bootstrap/bootstrap.h"
#include "engine/host_map.h"
#include "engine/routes.h"
#include "memory/region_table.h"
#include "transport/device.h"

namespace heddle::transport {
struct backend;
struct fault_plan;
}  // namespace heddle::transport

namespace heddle::engine {

/// Threads: constant after construction but for lane(), which one thread at a time asks, and
/// close().
class network {
 public:
  /// Collective: exchanges hosts and addresses with the other ranks. All references must outlive
  /// it; the session is used by the constructor only. Throws error: a rank of another version or
  /// credit, or no way to a rank, and why each device has none.
  network(bootstrap::session& session, const settings& config, memory::region_table& regions);

  [[nodiscard]] const host_map& hosts() const noexcept { return hosts_; }
  /// This rank's share of its host's cores.
  [[nodiscard]] int cores() const noexcept { return cores_; }
  /// Of this rank's host, rounded up.
  [[nodiscard]] int ranks_per_core() const noexcept { return ranks_per_core_; }
  /// The usable ones, best first; none after close().
  [[nodiscard]] std::span<transport::device* const> devices() const noexcept { return devices_; }
  /// What a lane of this number needs. Valid as long as this is.
  [[nodiscard]] const lane_routes& lane(int number) { return routes_->of(number); }
  /// Over which lane 0 reaches `peer`.
  [[nodiscard]] transport::device& to(rank peer) const noexcept {
    return *first_->devices[first_->route[static_cast<std::size_t>(peer)]];
  }
  [[nodiscard]] bool cpu_does_atomics(rank peer) const noexcept {
    return routes_->cpu_does_atomics(peer);
  }

  /// Some peer, or a device in software, may map memory of this rank where it is a file's.
  [[nodiscard]] bool shares_files() const noexcept;

  /// The name of the device that leads to `peer`, and of its host; empty where there is no such
  /// rank.
  [[nodiscard]] std::string route(rank peer) const;
  [[nodiscard]] std::string host(rank peer) const;
  [[nodiscard]] int host_number(rank peer) const noexcept;  ///< -1: no such rank
  /// For people: a line and details for each backend; how many ranks each device leads to.
  [[nodiscard]] std::string describe() const;
  [[nodiscard]] std::string ways() const;

  /// Lets go of the devices, when no lane has an endpoint any more.
  void close() noexcept;

 private:
  struct opened_device {
    std::string name;
    std::unique_ptr<transport::device> device;
    std::string unusable;  ///< why there is no device
  };
  [[nodiscard]] bool is_rank(rank r) const noexcept { return r >= 0 && r < size_; }
  void meet_hosts(bootstrap::session& session);
  void open_devices(const bootstrap::job& job);
  void open(const transport::backend& which, const transport::context& where, std::uint8_t number,
            transport::fault_plan faults);
  void choose_routes(bootstrap::session& session);
  void hear_peers(bootstrap::session& session, const bootstrap::gathered& addresses);
  void meet(rank peer, std::span<const std::byte> addresses);
  [[nodiscard]] std::string reach(std::size_t device, rank peer,
                                  std::span<const std::byte> addresses);

  const settings& config_;
  memory::region_table& regions_;
  const rank self_;
  const int size_;
  host_map hosts_;
  int ranks_here_ = 1;  // on this rank's host
  int cores_ = 1;
  int ranks_per_core_ = 1;
  std::vector<opened_device> backends_;
  std::vector<transport::device*> devices_;
  std::vector<std::string> device_names_;
  std::vector<std::uint8_t> device_backends_;  // a number of each one's backend
  std::unique_ptr<routes> routes_;
  const lane_routes* first_ = nullptr;  // of lane 0
};

}  // namespace heddle::engine
