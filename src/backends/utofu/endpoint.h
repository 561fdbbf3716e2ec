// SPDX-License-Identifier: BSD-3-Clause
// endpoint.h - one lane over Tofu: a VCQ, and who does what with it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "backends/utofu/accesses.h"
#include "backends/utofu/credits.h"
#include "backends/utofu/device.h"
#include "backends/utofu/liveness.h"
#include "backends/utofu/messages.h"
#include "backends/utofu/nap.h"
#include "backends/utofu/op_lists.h"
#include "backends/utofu/peer_regions.h"
#include "backends/utofu/peers.h"
#include "backends/utofu/slab.h"
#include "backends/utofu/wireup.h"
#include "backends/utofu/work_queue.h"
#include "base/fd.h"
#include "transport/endpoint.h"
#include "transport/outbox.h"

namespace heddle::transport::utofu {

class utofu_endpoint final : public endpoint {
 public:
  /// Throws error: no memory, or it cannot be registered.
  utofu_endpoint(utofu_device& owner, int lane);

  remote_lane* reach(rank peer, int lane) noexcept override { return peers_.find(peer, lane); }
  status post(op& what) noexcept override;
  post_result post(std::span<op* const> ops) noexcept override;
  status send(remote_lane& to, message_head head, std::span<const std::byte> header,
              std::span<const std::byte> data) noexcept override;
  std::size_t poll(std::span<event> out) noexcept override;
  bool arm() noexcept override;
  [[nodiscard]] int fd() const noexcept override { return timer_.get(); }
  void maintain() noexcept override;
  void drop(remote_lane& of) noexcept override;
  /// Puts and gets have their own ends; messages have left when their work requests have.
  [[nodiscard]] bool idle() const noexcept override { return messages_.idle(); }

 private:
  struct way_of_lists;  // endpoint.cpp

  [[nodiscard, gnu::always_inline]] status start(op& o) noexcept;
  [[nodiscard, gnu::noinline]] status start_one_of_several(op& o) noexcept;
  [[nodiscard, gnu::noinline]] status start_message(peer_state& p, op& o) noexcept;
  void do_chores() noexcept;
  void take_failures() noexcept;
  bool on_notice(int code, const utofu_mrq_notice& n) noexcept;
  void on_end(const pending& what, int code, std::uint64_t value) noexcept;
  [[gnu::noinline]] void on_other_end(const pending& what, int code, std::uint64_t value) noexcept;
  void on_own_end(peer_state& p, ending what, status how, std::uint64_t value) noexcept;
  void forget_lost() noexcept;
  void forget(peer_state& p) noexcept;
  void on_dead_queue() noexcept;

  // Constant after construction.
  const int lane_;
  const vcq& vcq_;
  unique_fd timer_;

  // The lane's thread only.
  slab slab_;
  work_queue queue_;
  outbox events_;
  peers peers_;
  credits credits_;
  messages messages_;
  wireup wireup_;
  peer_regions regions_;
  liveness liveness_;
  large_transfers large_;
  accesses accesses_;
  op_lists lists_;
  nap nap_;
  bool told_dead_ = false;
  unsigned polls_ = 0;
};

}  // namespace heddle::transport::utofu
