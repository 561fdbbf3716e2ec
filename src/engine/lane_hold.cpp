#include "engine/lane_hold.h"

namespace heddle::engine {

bool lane_hold::visit() noexcept {
  if (!bias_.visitor_enter()) return false;
  sync::holds::took();
  if (exclusive()) return true;
  step_out(false);  // unreserved just now
  return false;
}

void lane_hold::abandon(const void* me) noexcept {
  if (exclusive()) return step_out(exclusive_.get() == number(me));
  commands_.let_go();
}

bool lane_hold::reserve(const void* owner) noexcept {
  if (exclusive() || !commands_.try_hold()) return false;
  sync::holds::let_go();  // it is nobody's now
  exclusive_.set(number(owner));
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
