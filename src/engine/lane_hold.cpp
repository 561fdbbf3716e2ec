#include "engine/lane_hold.h"

#include "sync/holds.h"

namespace heddle::engine {

bool lane_hold::enter_exclusive(const void* me) noexcept {
  if (!(owns(me) ? bias_.owner_enter() : bias_.visitor_enter())) return false;
  sync::holds::took();
  if (exclusive()) return true;
  step_out(me);  // unreserved just now
  return false;
}

bool lane_hold::leave_exclusive(const void* me) noexcept {
  step_out(me);
  // What was queued while we were inside is ours, unless somebody has come for it already.
  return !commands_.ready() || !enter(me);
}

void lane_hold::abandon(const void* me) noexcept {
  if (exclusive()) return step_out(me);
  commands_.let_go();
}

void lane_hold::step_out(const void* me) noexcept {
  sync::holds::let_go();
  if (owns(me)) return bias_.owner_leave();
  bias_.visitor_leave();
}

bool lane_hold::reserve(const void* owner) noexcept {
  if (exclusive() || !commands_.try_hold()) return false;
  sync::holds::let_go();  // it is nobody's now
  exclusive_.set(reinterpret_cast<std::uintptr_t>(owner));
  return true;
}

bool lane_hold::unreserve() noexcept {
  if (!bias_.owner_enter()) return false;
  exclusive_.set(0);
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
