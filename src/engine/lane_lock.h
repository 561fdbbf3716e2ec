// lane_lock.h - HEDDLE_LANE_LOCK, only to compare with: one plain lock around everything that is
// done to a lane, as published designs of multithreaded communication have it.
//
// The lane's own hold works as ever underneath; what the lock takes away is that a thread which
// finds the lane held leaves its command and goes on. Off, it costs a look at a constant.
#pragma once
#include <mutex>

#include "protocols/delivery.h"

namespace heddle::engine {

class lane_lock {
 public:
  explicit lane_lock(bool on) noexcept : on_(on) {}
  [[nodiscard]] bool on() const noexcept { return on_; }

  /// Waits for the lock and has it until the end of the scope. Callbacks run under it already: what
  /// they do, also to other lanes, takes none.
  class scope {
   public:
    scope(lane_lock& of, const protocols::delivery_batch& caller) noexcept
        : taken_(of.on_ && !caller.running() ? &of.mutex_ : nullptr) {
      if (taken_ != nullptr) taken_->lock();
    }
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;
    ~scope() {
      if (taken_ != nullptr) taken_->unlock();
    }

   private:
    std::mutex* const taken_;
  };

 private:
  const bool on_;
  std::mutex mutex_;
};

}  // namespace heddle::engine
