// SPDX-License-Identifier: BSD-3-Clause
// lane_hold.h - who drives a lane, and the queue in which the others leave what they want of it.
//
// Shared lanes: whoever takes the queue's hold first. Exclusive lanes: the owner, without an atomic
// read-modify-write, or a visitor while the owner is elsewhere (sync/biased_hold.h); the queue's
// hold is then taken for good, so that nobody who has not heard of it yet gets in the old way.
#pragma once
#include <cstddef>
#include <cstdint>

#include "protocols/command.h"
#include "sync/biased_hold.h"
#include "sync/combining_queue.h"
#include "sync/holds.h"
#include "sync/loose.h"
#include "sync/published.h"
#include "sync/this_thread.h"

namespace heddle::engine {

class lane_hold {
 public:
  using queue = sync::combining_queue<protocols::command>;
  explicit lane_hold(std::size_t capacity) : commands_(capacity) {}

  [[nodiscard]] bool enter() noexcept {
    if (exclusive()) [[unlikely]]
      return enter_exclusive();
    return commands_.try_hold();
  }
  /// The same, but only when nothing is queued, which would go first.
  [[nodiscard]] bool enter_free() noexcept {
    if (commands_.try_hold_free()) [[likely]]
      return true;
    return enter_free_exclusive();
  }
  /// The same where enter_free() has failed because something is queued.
  [[nodiscard]] bool enter_queued() noexcept;
  /// False: more is queued, and the caller still holds.
  [[nodiscard]] bool leave() noexcept {
    if (exclusive()) [[unlikely]]
      return leave_exclusive();
    return commands_.release();
  }
  /// The same, but on a shared lane a claim is enough to say false.
  [[nodiscard]] bool leave_free() noexcept {
    if (exclusive()) [[unlikely]]
      return leave_exclusive();
    return commands_.release_empty();
  }
  /// Lets go whatever is queued: somebody else was told to come.
  void abandon() noexcept;
  /// Asked by the executor before it enters: the owner of an exclusive lane has found it taken, and
  /// tries again just now. True for a turn and for the look behind it, so that the executor rests.
  [[nodiscard]] bool gives_way() noexcept {
    const int left = visits_left_out_.get();
    if (left != 0) [[unlikely]]
      visits_left_out_.set(left - 1);
    return left != 0;
  }
  /// The owner leaves the lane to the executor: it does not try again.
  void expect_visits() noexcept { visits_left_out_.set(0); }

  /// From now on, until unreserve(), the calling thread is the lane's only user. False: somebody
  /// holds it now.
  [[nodiscard]] bool reserve() noexcept;
  /// By the owner, or when it uses the lane no more. Anything queued is left behind. False: a
  /// visitor is inside.
  [[nodiscard]] bool unreserve() noexcept;
  /// Nobody gets in any more, and the caller has what is queued to itself. A shared lane's only.
  /// False: somebody holds it now.
  [[nodiscard]] bool retire() noexcept;
  [[nodiscard]] bool exclusive() const noexcept { return owner_.get() != nullptr; }

  [[nodiscard]] queue& commands() noexcept { return commands_; }
  [[nodiscard]] const queue& commands() const noexcept { return commands_; }

 private:
  // Out of line, so that a shared lane does not pay for them.
  [[nodiscard]] bool enter_exclusive() noexcept;
  [[nodiscard]] bool enter_free_exclusive() noexcept;
  [[nodiscard]] bool enter_here() noexcept;
  [[nodiscard]] bool leave_exclusive() noexcept;
  [[nodiscard]] bool come_back() noexcept;
  [[nodiscard]] bool is_owner() const noexcept { return owner_.get() == sync::this_thread(); }
  [[nodiscard]] bool visit() noexcept;
  [[nodiscard]] bool entered(bool as_owner) noexcept;
  void step_out(bool owner) noexcept;

  sync::loose<int> visits_left_out_;  // by the executor, for the owner
  // Null: the lane is shared. Who sees it set sees what was done under the queue's hold before.
  sync::published<const void*> owner_;
  sync::biased_hold<> bias_;
  queue commands_;
};

}  // namespace heddle::engine
