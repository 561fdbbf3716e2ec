// SPDX-License-Identifier: BSD-3-Clause
// completions.h - a lane's completion queue: what is taken out of it, and sleeping until there is
// something.
#pragma once
#include <array>
#include <cstddef>
#include <deque>
#include <new>

#include "backends/verbs/lane_queues.h"

namespace heddle::transport::verbs {

class completions {
 public:
  explicit completions(const lane_queues& of) : queues_(of) {}

  /// From now on next() looks into the queue.
  void begin() noexcept { emptied_ = false; }
  /// The oldest, good until the next call; null: there is none, or was none when the queue was
  /// looked into last.
  [[nodiscard]] const ibv_wc* next() noexcept {
    if (at_ == end_ && (emptied_ || !refill())) return nullptr;
    return &some_[at_++];
  }
  /// Takes all out of the queue, for next() to give.
  void set_aside() noexcept {
    emptied_ = false;
    try {
      for (ibv_wc c; ibv_poll_cq(queues_.cq(), 1, &c) > 0;) early_.push_back(c);
    } catch (const std::bad_alloc&) {
      // What is left goes with its queue pair: a buffer or two are missing from now on.
    }
  }
  /// From now on the channel is readable when something comes. False: something is there.
  [[nodiscard]] bool arm() noexcept {
    ibv_cq* told = nullptr;
    void* unused = nullptr;
    // One look is enough: each request is told of once, and an event that comes just behind the
    // look wakes the lane once more, which takes it then.
    if (ibv_get_cq_event(queues_.channel(), &told, &unused) == 0)
      ibv_ack_cq_events(queues_.cq(), 1);
    if (at_ != end_ || !early_.empty() || ibv_req_notify_cq(queues_.cq(), 0) != 0) return false;
    set_aside();  // what came before the request tells nobody
    return early_.empty();
  }

 private:
  /// False: there is nothing anywhere.
  bool refill() noexcept {
    at_ = end_ = 0;
    if (!early_.empty()) [[unlikely]] {
      some_[end_++] = early_.front();
      early_.pop_front();
      return true;
    }
    const int count = ibv_poll_cq(queues_.cq(), static_cast<int>(some_.size()), some_.data());
    if (count > 0) end_ = static_cast<std::size_t>(count);
    emptied_ = end_ < some_.size();  // a card gives as many as there are
    return count > 0;
  }

  const lane_queues& queues_;
  std::array<ibv_wc, 16> some_;  // taken out of the queue by one call
  std::size_t at_ = 0, end_ = 0;
  bool emptied_ = false;
  std::deque<ibv_wc> early_;  // taken out behind them
};

}  // namespace heddle::transport::verbs
