// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/placed_calls.h"

#include <utility>

namespace heddle::fuzz {

void placed_calls::arrive(void* self, lane& here, const arriving_call& call) noexcept {
  auto& mine = *static_cast<placed_calls*>(self);
  const std::size_t bytes = call.payload.what().bytes;
  arrival* made = nullptr;
  {
    const std::lock_guard lock(mine.mutex_);
    made = &mine.arrivals_.emplace_back(arrival{&mine,
                                                call.source,
                                                call.lane,
                                                here.number(),
                                                {call.header.begin(), call.header.end()},
                                                std::vector<std::byte>(bytes),
                                                std::move(call.payload)});
    made->self = std::prev(mine.arrivals_.end());
  }
  mine.receive(*made, here);
}

/// Where there is no room the lane tells when there is.
void placed_calls::receive(arrival& a, lane& here) noexcept {
  const status s = here.try_recv(a.from, a.payload, completion{&placed_calls::end, &a});
  if (is_busy(s)) return here.when_ready({&placed_calls::try_again, &a});
  if (s != status::posted) end(&a, 0, {.code = s});
}

void placed_calls::try_again(void* which, std::uint64_t, const outcome& what) noexcept {
  auto& a = *static_cast<arrival*>(which);
  if (what.code != status::done) return a.of->forget(a);
  a.of->receive(a, a.of->lane_of_(a.here));
}

void placed_calls::end(void* which, std::uint64_t, const outcome& what) noexcept {
  auto& a = *static_cast<arrival*>(which);
  if (what.code == status::done && what.bytes == a.payload.size())
    a.of->whole_({a.source, a.lane, a.header, a.payload});
  a.of->forget(a);
}

void placed_calls::forget(arrival& a) {
  const std::lock_guard lock(mutex_);
  arrivals_.erase(a.self);
}

}  // namespace heddle::fuzz
