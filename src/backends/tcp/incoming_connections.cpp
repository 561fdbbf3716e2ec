// SPDX-License-Identifier: BSD-3-Clause
// incoming_connections.cpp - connections that peers made, on their way to a lane.
#include "backends/tcp/incoming_connections.h"

#include <sys/eventfd.h>

#include "backends/tcp/frame.h"

namespace heddle::transport::tcp {

void incoming_connections::give(accepted who) {
  const lane_name peer{who.from, who.from_lane};
  if (chooses(peer, false) && !choose(who.with, peer)) return turn_away(std::move(who.with));
  {
    const std::lock_guard lock(mutex_);
    given_.push_back(std::move(who));
  }
  was_given_.set();
  (void)::eventfd_write(doorbell_.get(), 1);
}

std::vector<accepted> incoming_connections::take() {
  if (!any() || !was_given_.take()) return {};
  eventfd_t count = 0;
  (void)::eventfd_read(doorbell_.get(), &count);
  const std::lock_guard lock(mutex_);
  return std::exchange(given_, {});
}

bool incoming_connections::choose(stream& with, lane_name peer) {
  const std::lock_guard lock(mutex_);
  if (!chosen_.insert(peer).second) return false;
  std::array<std::byte, common_header> frame;
  write_chosen(frame.data());
  (void)with.transmit(frame);  // there is room; if it is broken, reading will tell
  return true;
}

void turn_away(stream with) noexcept {
  std::array<std::byte, common_header> bye;
  write_bye(bye.data());
  (void)with.transmit(bye);
  close_softly(with.release());
}

}  // namespace heddle::transport::tcp
