// SPDX-License-Identifier: BSD-3-Clause
// endpoint.h - one lane over InfiniBand or RoCE: its parts, and who does what.
#pragma once
#include <cstddef>
#include <memory>
#include <span>

#include "backends/verbs/accesses.h"
#include "backends/verbs/completions.h"
#include "backends/verbs/connector.h"
#include "backends/verbs/departures.h"
#include "backends/verbs/device.h"
#include "backends/verbs/incoming_messages.h"
#include "backends/verbs/lane_home.h"
#include "backends/verbs/peers.h"
#include "backends/verbs/regions.h"
#include "backends/verbs/slots.h"
#include "base/fd.h"
#include "transport/endpoint.h"
#include "transport/outbox.h"

namespace heddle::transport::verbs {

class verbs_endpoint final : public endpoint {
 public:
  /// Throws error: what the card does not give.
  verbs_endpoint(verbs_device& owner, std::shared_ptr<lane_home> home);

  remote_lane* reach(rank peer, int lane) noexcept override { return peers_.find(peer, lane); }
  status post(op& what) noexcept override;
  post_result post(std::span<op* const> ops) noexcept override;
  status send(remote_lane& to, message_head head, std::span<const std::byte> header,
              std::span<const std::byte> data) noexcept override;
  std::size_t poll(std::span<event> out) noexcept override;
  bool arm() noexcept override;
  bool arm_loosely() noexcept override;
  [[nodiscard]] int fd() const noexcept override { return waker_.get(); }
  void maintain() noexcept override;
  void drop(remote_lane& of) noexcept override;
  [[nodiscard]] bool idle() const noexcept override { return departures_.idle(); }

 private:
  [[nodiscard]] status start(peer_lane& p, op& o) noexcept;
  [[nodiscard, gnu::noinline]] status post_message(op& what) noexcept;
  void note_post(status last) noexcept;
  [[nodiscard]] status start_access(peer_lane& p, op& o);
  [[nodiscard, gnu::noinline]] status start_told(peer_lane& p, op& o);
  void read_letters() noexcept;
  void on_completion(const ibv_wc& c) noexcept;
  void lose_all() noexcept;
  void forget_lost() noexcept;

  verbs_device& device_;
  const std::shared_ptr<lane_home> home_;
  unique_fd waker_;

  outbox events_;
  peers peers_;
  slots slots_;
  regions regions_;
  accesses accesses_;
  completions completions_;
  connector connector_;
  departures departures_;
  incoming_messages incoming_;
  unsigned polls_ = 0;
  bool refused_ = false;  // the last post, for want of something; it may be there now:
  bool moved_ = false;    // something has ended or begun since
};

}  // namespace heddle::transport::verbs
