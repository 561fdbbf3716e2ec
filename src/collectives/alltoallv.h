// SPDX-License-Identifier: BSD-3-Clause
// alltoallv.h - alltoall of parts whose sizes differ: pairwise exchange.
#pragma once
#include "collectives/parts.h"

namespace heddle::collectives {

template <class Lane>
task<status> alltoallv(basic_async_group<Lane> on, const_bytes in, detail::part_counts given,
                       bytes out, detail::part_counts taken) {
  const layout mine(given);
  const layout sorted(taken);
  const rank self = on.self();
  if (mine.parts() != on.ranks() || sorted.parts() != on.ranks() || mine.bytes() != in.size() ||
      sorted.bytes() != out.size() || mine.size(self) != sorted.size(self)) {
    co_return status::invalid;
  }
  exchange all(on);
  copy(mine.of(in, self), sorted.of(out, self));
  for (int i = 1; i < all.ranks(); ++i) {
    co_await swap_parts(all, 0, all.after(i), mine.of(in, all.after(i)), all.before(i),
                        sorted.of(out, all.before(i)));
  }
  co_return all.health();
}

}  // namespace heddle::collectives
