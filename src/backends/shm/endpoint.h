// SPDX-License-Identifier: BSD-3-Clause
// endpoint.h - one lane over shared memory.
#pragma once
#include <cstddef>
#include <span>

#include "backends/shm/announcements.h"
#include "backends/shm/blocked_links.h"
#include "backends/shm/device.h"
#include "backends/shm/incoming_rings.h"
#include "backends/shm/lane_sleep.h"
#include "backends/shm/link.h"
#include "backends/shm/links.h"
#include "backends/shm/reading_pace.h"
#include "transport/device.h"

namespace heddle::transport::shm {

/// endpoint_path.cpp: post, poll. endpoint_sleep.cpp: arm and what wakes it. endpoint.cpp: the
/// rest.
class shm_endpoint final : public endpoint {
 public:
  /// Throws when the process lacks descriptors.
  shm_endpoint(shm_device& owner, int lane);
  ~shm_endpoint() override;

  link* reach(rank peer, int lane) noexcept override { return links_.reach(peer, lane); }
  using endpoint::post;
  post_result post(std::span<op* const> ops) noexcept override;
  status send(remote_lane& to, message_head head, std::span<const std::byte> header,
              std::span<const std::byte> data) noexcept override;
  std::size_t poll(std::span<event> out) noexcept override;
  bool arm() noexcept override;
  bool arm_loosely() noexcept override;
  [[nodiscard]] int fd() const noexcept override { return sleep_.fd(); }
  bool shares_core(int core) noexcept override;
  void maintain() noexcept override;
  void drop(remote_lane& of) noexcept override;
  [[nodiscard]] bool idle() const noexcept override;

 private:
  // Hot path.
  status post_one(op& what) noexcept;
  status push(link& to, const op& what) noexcept;
  std::size_t look(std::span<event> out) noexcept;
  [[gnu::noinline]] std::size_t do_chores_and_look(std::span<event> out) noexcept;
  [[gnu::noinline]] std::size_t collect(std::span<event> out) noexcept;

  // Ends.
  void look_around() noexcept;
  std::size_t report_ends(std::span<event> out) noexcept;
  void forget(link& lost) noexcept;

  // Sleep.
  bool go_to_sleep(bool for_sure) noexcept;
  void wake_up() noexcept;
  [[nodiscard]] bool work_in_sight() noexcept;

  // Constant after construction.
  shm_device& device_;
  const int lane_;
  const std::size_t max_message_;
  lane_slot& mine_;
  lane_sleep sleep_;

  // The lane's thread only.
  incoming_rings incoming_;
  reading_pace<> pace_;
  blocked_links blocked_;
  links links_;
  std::size_t looked_at_ = 0;  // links whose core was last compared
  announcements announced_;
  // Asleep, or one of the last polls has found messages, or announcements wait.
  bool chores_ = false;
};

}  // namespace heddle::transport::shm
