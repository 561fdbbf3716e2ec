// SPDX-License-Identifier: BSD-3-Clause
#include "engine/lane_hold.h"

namespace heddle::engine {
namespace {

constexpr int turn_and_look = 2;

}  // namespace

inline bool lane_hold::enter_here() noexcept {
  if (!is_owner()) return visit();
  if (bias_.owner_enter()) [[likely]]
    return entered(true);
  visits_left_out_.set(turn_and_look);
  return false;
}

[[gnu::noinline]] bool lane_hold::enter_exclusive() noexcept {
  return enter_here();
}

/// The queue's hold is taken for good where the lane is exclusive.
[[gnu::noinline]] bool lane_hold::enter_free_exclusive() noexcept {
  return exclusive() && !commands_.pending() && enter_here();
}

[[gnu::noinline]] bool lane_hold::enter_queued() noexcept {
  return commands_.pending() && enter();
}

[[gnu::noinline]] bool lane_hold::visit() noexcept {
  return bias_.visitor_enter() && entered(false);
}

/// False: it was unreserved just now.
inline bool lane_hold::entered(bool as_owner) noexcept {
  sync::holds::took();
  if (exclusive()) [[likely]]
    return true;
  step_out(as_owner);
  return false;
}

/// What was queued while we were inside is ours, unless somebody has come for it already.
[[gnu::noinline]] bool lane_hold::leave_exclusive() noexcept {
  step_out(is_owner());
  if (commands_.ready()) [[unlikely]]
    return come_back();
  return true;
}

[[gnu::noinline]] bool lane_hold::come_back() noexcept {
  return !enter();
}

inline void lane_hold::step_out(bool owner) noexcept {
  sync::holds::let_go();
  owner ? bias_.owner_leave() : bias_.visitor_leave();
}

void lane_hold::abandon() noexcept {
  if (exclusive()) return step_out(is_owner());
  commands_.let_go();
}

bool lane_hold::reserve() noexcept {
  if (exclusive() || !commands_.try_hold()) return false;
  sync::holds::let_go();  // it is nobody's now
  owner_.set(sync::this_thread());
  return true;
}

bool lane_hold::unreserve() noexcept {
  if (!bias_.owner_enter()) return false;
  owner_.set(nullptr);
  bias_.owner_leave();  // visitors that come now see it
  sync::holds::took();
  commands_.let_go();
  return true;
}

bool lane_hold::retire() noexcept {
  if (!commands_.try_hold()) return false;
  sync::holds::let_go();  // it is nobody's from now on
  return true;
}

}  // namespace heddle::engine
