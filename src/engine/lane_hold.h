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
#include "sync/published.h"

namespace heddle::engine {

/// `me` names the calling thread, here and below: the address of its delivery batch.
class lane_hold {
 public:
  using queue = sync::combining_queue<protocols::command>;
  explicit lane_hold(std::size_t capacity) : commands_(capacity) {}

  [[nodiscard]] bool enter(const void* me) noexcept {
    const std::uintptr_t owner = exclusive_.get();
    if (owner == 0) return commands_.try_hold();
    return owner == number(me) ? enter_owned() : visit();
  }
  /// The same, but only when nothing is queued, which would go first.
  [[nodiscard]] bool enter_free(const void* me) noexcept {
    return !commands_.pending() && enter(me);
  }
  /// False: more is queued, and the caller still holds.
  [[nodiscard]] bool leave(const void* me) noexcept {
    const std::uintptr_t owner = exclusive_.get();
    if (owner == 0) return commands_.release();
    step_out(owner == number(me));
    // What was queued while we were inside is ours, unless somebody has come for it already.
    return !commands_.ready() || !enter(me);
  }
  /// Lets go whatever is queued: somebody else was told to come.
  void abandon(const void* me) noexcept;

  /// From now on, until unreserve(), `owner` is the lane's only user. False: somebody holds it now.
  [[nodiscard]] bool reserve(const void* owner) noexcept;
  /// By the owner, or when it uses the lane no more. Anything queued is left behind. False: a
  /// visitor is inside.
  [[nodiscard]] bool unreserve() noexcept;
  /// Nobody gets in any more, and the caller has what is queued to itself. A shared lane's only.
  /// False: somebody holds it now.
  [[nodiscard]] bool retire() noexcept;
  [[nodiscard]] bool exclusive() const noexcept { return exclusive_.get() != 0; }

  [[nodiscard]] queue& commands() noexcept { return commands_; }
  [[nodiscard]] const queue& commands() const noexcept { return commands_; }

 private:
  static std::uintptr_t number(const void* me) noexcept {
    return reinterpret_cast<std::uintptr_t>(me);
  }
  [[nodiscard]] bool enter_owned() noexcept {
    if (!bias_.owner_enter()) return false;
    sync::holds::took();
    if (exclusive()) [[likely]]
      return true;
    step_out(true);  // unreserved just now
    return false;
  }
  [[nodiscard]] bool visit() noexcept;
  void step_out(bool owner) noexcept {
    sync::holds::let_go();
    owner ? bias_.owner_leave() : bias_.visitor_leave();
  }

  // The owner; 0: the lane is shared. Who sees it set sees what was done under the queue's hold
  // before.
  sync::published<std::uintptr_t> exclusive_;
  sync::biased_hold<> bias_;
  queue commands_;
};

}  // namespace heddle::engine
