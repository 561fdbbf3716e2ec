// SPDX-License-Identifier: BSD-3-Clause
// lane_end.h - the end of a lane, and the commands that are queued while it comes.
//
// Who queues something looks at `ended` after it, who ends the lane at the queue after setting
// `ended`: one of the two finds what was queued last.
#pragma once
#include <mutex>

#include "engine/lane_driver.h"
#include "sync/sequential.h"

namespace heddle::engine {

class lane_end {
 public:
  explicit lane_end(lane_driver& of) noexcept : driver_(of) {}

  /// Any thread: everything is answered `closed`.
  [[nodiscard]] bool has_come() const noexcept { return ended_.is_set(); }
  /// Any thread, after it has queued something: ends it, if the lane has ended meanwhile and nobody
  /// else would. Runs the batch.
  void look_after_queue(protocols::delivery_batch& batch) noexcept {
    if (has_come()) [[unlikely]]
      end_queued(batch);
  }
  /// The thread that ends the world: what is under way has ended, as `closed`, on return.
  void come(protocols::delivery_batch& batch) noexcept;

 private:
  void end_queued(protocols::delivery_batch& batch) noexcept;

  lane_driver& driver_;
  sync::sequential_flag ended_;
  std::mutex mutex_;  // whose owner empties the queue of an ended lane
};

}  // namespace heddle::engine
