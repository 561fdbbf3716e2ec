// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/measure/arrival_counter.h"

#include <cstring>

namespace heddle::linktest {

void arrival_counter::join(world& job, std::span<std::byte> memory) {
  memory_ = memory;
  job.set_handler(notice, &arrival_counter::on_notice, this);
  job.set_handler(delivery, &arrival_counter::on_delivery, this);
}

std::uint64_t arrival_counter::begin_visit() {
  (void)tickets_.track(status::done);
  expected_ = arrived_.count();
  return tickets_.count();
}

void arrival_counter::count(std::uint64_t ticket) noexcept {
  if (ticket == tickets_.count()) (void)arrived_.track(status::done);
}

void arrival_counter::on_notice(void* self, lane&, const call_message& m) noexcept {
  std::uint64_t ticket = 0;
  if (m.header.size() != sizeof ticket) return;
  std::memcpy(&ticket, m.header.data(), sizeof ticket);
  static_cast<arrival_counter*>(self)->count(ticket);
}

/// A receiver has to take its message away, so the copy belongs to what a call costs.
void arrival_counter::on_delivery(void* self, lane&, const call_message& m) noexcept {
  auto& me = *static_cast<arrival_counter*>(self);
  label what{};
  if (m.header.size() != sizeof what) return;
  std::memcpy(&what, m.header.data(), sizeof what);
  if (what.ticket != me.tickets_.count() || what.offset > me.memory_.size() ||
      m.payload.size() > me.memory_.size() - what.offset)
    return;
  std::memcpy(me.memory_.data() + what.offset, m.payload.data(), m.payload.size());
  me.count(what.ticket);
}

}  // namespace heddle::linktest
