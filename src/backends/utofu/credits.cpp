// SPDX-License-Identifier: BSD-3-Clause
#include "backends/utofu/credits.h"

#include <cstddef>

namespace heddle::transport::utofu {

void credits::release_taken() noexcept {
  taken_.take_all([this](peer_state& p) {
    p.in.release();
    if (p.in.untold() >= p.in.lines() / 4) tell(p);
    if (p.in.untold() != 0) untold_.add(p);
  });
}

/// Mostly the next message to the peer says it as well; a put of its own is for one-way traffic.
void credits::tell(peer_state& p) noexcept {
  if (p.lost || !p.out.is_open()) return;
  work_request c;
  c.what = work_request::form::piggyback;
  c.to = p.vcq->with_path;
  c.there = p.their_area + offsetof(peer_area, consumed);
  c.data = &p.in.released();
  c.bytes = sizeof(std::uint64_t);
  c.edata = edata_message;
  if (queue_.submit([&] { return c; }) == status::done)
    p.in.tell(p.in.released());
  else
    owed_.add(p);
}

void credits::tell_all() noexcept {
  untold_.take_all([this](peer_state& p) {
    if (p.in.untold() != 0) tell(p);
  });
}

void credits::read(peer_state& p) noexcept {
  if (p.area == nullptr) return;
  heard(p, static_cast<std::uint32_t>(p.area->consumed.get()));
}

bool credits::read_all() noexcept {
  for (peer_state* p : peers_.all()) read(*p);
  return !queue_.window().full();
}

}  // namespace heddle::transport::utofu
