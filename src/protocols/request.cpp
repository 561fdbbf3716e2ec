// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/request.h"

#include <utility>

namespace heddle::protocols {

request& request_queue::take_first() noexcept {
  request& r = *front();
  take_in_hand(r);
  return r;
}

void take_in_hand(request& r) noexcept {
  if (request_queue* const from = std::exchange(r.queue, nullptr)) from->remove(r);
  r.at = stage::in_hand;
}

void request_pool::grow() {
  auto& slab = slabs_.emplace_back(std::make_unique<request[]>(at_a_time));
  const std::size_t first = (slabs_.size() - 1) * at_a_time;
  for (std::size_t i = at_a_time; i-- > 0;) {
    slab[i].index = static_cast<std::uint32_t>(first + i);
    slab[i].next_free = std::exchange(free_, &slab[i]);
  }
}

request* request_pool::find(std::uint64_t id, const peer& from) noexcept {
  const auto index = static_cast<std::uint32_t>(id);
  if (index >= slabs_.size() * at_a_time) return nullptr;
  request& r = slabs_[index / at_a_time][index % at_a_time];
  const bool named = r.at != stage::free && r.generation == id >> 32;
  return named && r.with == &from ? &r : nullptr;
}

}  // namespace heddle::protocols
