// SPDX-License-Identifier: BSD-3-Clause
// barrier.h - dissemination: in round k every rank tells the one 2^k after it.
#pragma once
#include <cstddef>

#include "collectives/exchange.h"

namespace heddle::collectives {

template <class Lane>
task<status> barrier(basic_async_group<Lane> on) {
  exchange all(on);
  const std::byte out{};
  std::byte in{};
  unsigned round = 0;
  for (int distance = 1; distance < all.ranks(); distance *= 2) {
    const auto swapped =
        co_await all.swap(round++, all.after(distance), {&out, 1}, all.before(distance), {&in, 1});
    all.note(swapped, 1);
  }
  co_return all.health();
}

}  // namespace heddle::collectives
