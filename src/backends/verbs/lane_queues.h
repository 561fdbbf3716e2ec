// SPDX-License-Identifier: BSD-3-Clause
// lane_queues.h - what the card gives a lane, which all connections of the lane share: a completion
// queue, a shared receive queue, a doorbell.
#pragma once
#include <cstdint>

#include "backends/verbs/card.h"

namespace heddle::transport::verbs {

/// Constant after construction.
class lane_queues {
 public:
  /// Throws error: what the card does not give.
  explicit lane_queues(const card& on);

  [[nodiscard]] const card& on() const noexcept { return card_; }
  [[nodiscard]] ibv_cq* cq() const noexcept { return cq_.get(); }
  [[nodiscard]] ibv_srq* srq() const noexcept { return srq_.get(); }
  [[nodiscard]] ibv_comp_channel* channel() const noexcept { return channel_.get(); }
  /// What it posts with is its own: a doorbell that no other lane rings, and no lock. False: the
  /// card has no doorbell page left, so the library's locks are taken.
  [[nodiscard]] bool has_doorbell() const noexcept { return thread_domain_ != nullptr; }
  /// Completions of own requests that the completion queue has room for, beside all that come in.
  [[nodiscard]] std::uint32_t room() const noexcept { return room_; }
  /// Messages of one peer that may wait here.
  [[nodiscard]] std::uint32_t window() const noexcept { return window_; }
  /// Bytes that a request may carry in itself.
  [[nodiscard]] std::uint32_t max_inline() const noexcept { return max_inline_; }

  /// A queue pair of this lane's, in its first state; null: the card has none left. Any thread.
  [[nodiscard]] handle<ibv_qp> make_queue_pair(std::uint32_t depth) const noexcept;

 private:
  void take_doorbell() noexcept;
  void make_completion_queue(std::uint32_t entries);
  [[nodiscard]] ibv_pd* domain() const noexcept {
    return parent_domain_ != nullptr ? parent_domain_.get() : card_.domain();
  }

  const card& card_;
  std::uint32_t room_ = 0, window_ = 0, max_inline_ = 0;
  handle<ibv_td> thread_domain_;
  handle<ibv_pd> parent_domain_;
  handle<ibv_comp_channel> channel_;
  handle<ibv_cq> cq_;
  handle<ibv_srq> srq_;
};

}  // namespace heddle::transport::verbs
