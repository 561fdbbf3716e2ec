// completions.h - a lane's completion queue: what is taken out of it, and sleeping until there is
// something.
#pragma once
#include <deque>
#include <new>

#include "backends/verbs/lane_home.h"

namespace heddle::transport::verbs {

class completions {
 public:
  explicit completions(const lane_home& of) : home_(of) {}

  /// The oldest; false: there is none.
  [[nodiscard]] bool next(ibv_wc& out) noexcept {
    if (early_.empty()) [[likely]]
      return ibv_poll_cq(home_.cq(), 1, &out) > 0;
    out = early_.front();
    early_.pop_front();
    return true;
  }
  /// Takes all out of the queue, for next() to give.
  void set_aside() noexcept {
    try {
      for (ibv_wc c; ibv_poll_cq(home_.cq(), 1, &c) > 0;) early_.push_back(c);
    } catch (const std::bad_alloc&) {
      // What is left goes with its queue pair: a buffer or two are missing from now on.
    }
  }
  /// From now on the channel is readable when something comes. False: something is there.
  [[nodiscard]] bool arm() noexcept {
    ibv_cq* told = nullptr;
    void* unused = nullptr;
    unsigned events = 0;
    while (ibv_get_cq_event(home_.channel(), &told, &unused) == 0) ++events;
    if (events != 0) ibv_ack_cq_events(home_.cq(), events);
    if (!early_.empty() || ibv_req_notify_cq(home_.cq(), 0) != 0) return false;
    set_aside();  // what came before the request tells nobody
    return early_.empty();
  }

 private:
  const lane_home& home_;
  std::deque<ibv_wc> early_;
};

}  // namespace heddle::transport::verbs
