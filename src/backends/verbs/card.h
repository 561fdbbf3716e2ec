// SPDX-License-Identifier: BSD-3-Clause
// card.h - one port of a network card, opened: what everything else of this backend is made on.
#pragma once
#include <infiniband/verbs.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/verbs/handles.h"
#include "backends/verbs/settings.h"

namespace heddle::transport::verbs {

/// Where a port is on its fabric, as peers need it. Travels in addresses.
struct fabric_place {
  std::array<std::uint8_t, 16> gid{};
  std::uint16_t lid = 0;
  std::uint8_t mtu = 0;     ///< an ibv_mtu
  std::uint8_t by_gid = 0;  ///< 1: it is reached by its GID (RoCE, or another subnet)
  std::uint8_t reads = 0;   ///< reads and atomics of a peer that it answers at one time
  std::array<std::uint8_t, 3> pad{};
};
static_assert(sizeof(fabric_place) == 24);

/// The two ends of a reliable connection as the other side needs them.
struct far_end {
  std::uint32_t qpn = 0, psn = 0;
};

class card {
 public:
  /// A port by its name, "mlx5_0:1". Throws error: why it cannot be used.
  card(ibv_device* which, std::uint8_t port, const options& chosen);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] ibv_context* context() const noexcept { return context_.get(); }
  [[nodiscard]] ibv_pd* domain() const noexcept { return domain_.get(); }
  [[nodiscard]] const ibv_device_attr& limits() const noexcept { return limits_; }
  [[nodiscard]] const fabric_place& place() const noexcept { return place_; }
  [[nodiscard]] std::size_t largest_op() const noexcept { return port_.max_msg_sz; }
  [[nodiscard]] std::uint8_t port() const noexcept { return number_; }
  [[nodiscard]] const options& chosen() const noexcept { return chosen_; }

  /// For people: the card, its speed, and how it is addressed.
  [[nodiscard]] std::string describe() const;

  /// How to get to a peer's port.
  [[nodiscard]] ibv_ah_attr way_to(const fabric_place& peer) const noexcept;

  /// Locked in memory; or, where the process may lock no more and the card can do without for what
  /// `access` (IBV_ACCESS_...) says, brought in on demand. Null with errno: neither.
  [[nodiscard]] handle<ibv_mr> register_memory(std::span<std::byte> memory, int access) const;

  // A reliable queue pair's steps; 0, or an errno.

  /// So that peers' requests, and what may be posted, are known; it receives from then on.
  [[nodiscard]] int prepare(ibv_qp* qp) const noexcept;
  /// And it is connected to `peer`, whose packets count from `to.psn` on, ours from `our_psn`.
  [[nodiscard]] int connect(ibv_qp* qp, const fabric_place& peer, far_end to,
                            std::uint32_t our_psn) const noexcept;

 private:
  void choose_gid();
  [[nodiscard]] std::uint32_t rights_on_demand() const noexcept;

  const options& chosen_;
  const std::uint8_t number_;
  std::string name_;
  handle<ibv_context> context_;
  handle<ibv_pd> domain_;
  ibv_device_attr limits_{};
  ibv_port_attr port_{};
  fabric_place place_;
  std::uint8_t gid_index_ = 0;
  std::uint32_t on_demand_ = 0;  // IBV_ODP_SUPPORT_... of reliable connections; 0: none
};

/// A port that may be opened.
struct port_choice {
  ibv_device* device = nullptr;
  std::uint8_t port = 0;
};
/// The library's list of cards, as long as this lives.
class card_list {
 public:
  /// Throws error: there is none, with what to look at.
  card_list();
  ~card_list() { ibv_free_device_list(list_); }
  card_list(const card_list&) = delete;
  card_list& operator=(const card_list&) = delete;
  /// Ports that are up, or those that `wanted` (HEDDLE_VERBS_DEVICES) names. Throws error.
  [[nodiscard]] std::vector<port_choice> ports(const std::string& wanted) const;

 private:
  ibv_device** list_ = nullptr;
  std::span<ibv_device*> cards_;
};

/// The epoll descriptor `waker` is readable from now on when `fd` is. Throws error.
void watch(int waker, int fd);
/// Throws error with `what` and the system's words, unless `code` (0 or an errno) is 0.
void check(int code, std::string_view what);

}  // namespace heddle::transport::verbs
