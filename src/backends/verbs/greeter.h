// SPDX-License-Identifier: BSD-3-Clause
// greeter.h - sends and receives hellos: one queue pair for datagrams per process and port.
//
// Threads: one at a time (the device's mutex).
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "backends/verbs/facts.h"
#include "backends/verbs/handles.h"
#include "backends/verbs/hello.h"

namespace heddle::transport::verbs {

class greeter {
 public:
  /// Throws error: what the card refuses.
  greeter(const card& on, std::span<const std::byte, 32> job_secret);

  [[nodiscard]] std::uint32_t number() const noexcept { return qp_->qp_num; }
  /// Readable after arm() when something has come, or has left.
  [[nodiscard]] int fd() const noexcept { return channel_->fd; }

  /// It may get lost on its way. False: it has not left, for too many others are leaving.
  bool send(const peer_facts& to, const hello& what) noexcept;
  /// Calls for each hello of this job that has come.
  void receive(const std::function<void(const hello&)>& on_hello);
  /// From now on what comes makes fd() readable. False: something has come already.
  [[nodiscard]] bool arm() noexcept;

 private:
  static constexpr std::size_t slots = 256, grh_bytes = 40, slot_bytes = 128;
  static_assert(grh_bytes + sizeof(hello_image) <= slot_bytes);
  void bring_up();
  void offer(std::size_t slot) noexcept;
  [[nodiscard]] std::byte* place_of(std::size_t slot) noexcept {
    return memory_.data() + slot * slot_bytes;
  }

  const card& card_;
  std::array<std::byte, 32> secret_;
  std::vector<std::byte> memory_;  // slots to receive into, then slots to send from
  handle<ibv_mr> registered_;
  handle<ibv_comp_channel> channel_;
  handle<ibv_cq> cq_;
  std::array<handle<ibv_ah>, slots> on_its_way_;  // by slot to send from
  handle<ibv_qp> qp_;
  std::vector<std::size_t> free_;  // slots to send from
};

}  // namespace heddle::transport::verbs
