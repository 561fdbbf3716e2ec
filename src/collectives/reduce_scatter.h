// SPDX-License-Identifier: BSD-3-Clause
// reduce_scatter.h - for short vectors a tree to rank 0 and one back; for long ones pairwise
// exchange, in which each block travels once, straight to the rank that keeps it.
#pragma once
#include <cstddef>

#include "collectives/allreduce.h"
#include "collectives/reduce.h"
#include "collectives/scatter.h"

namespace heddle::collectives {

template <class Lane>
task<> reduce_then_scatter(exchange<Lane>& all, const_bytes in, bytes out, detail::reducer op) {
  const scratch memory(all.self() == 0 ? in.size() : 0);
  co_await reduce_tree(all, in, memory.all(), op, 0);
  co_await scatter_tree(all, memory.all(), out, 0, 1);
}

template <class Lane>
task<> reduce_scatter_pairwise(exchange<Lane>& all, const_bytes in, bytes out, detail::reducer op) {
  const scratch arrived(out.size());
  const blocks<const std::byte> mine(in, out.size());
  copy(mine.at(all.self()), out);
  for (int i = 1; i < all.ranks(); ++i) {
    const auto swapped = co_await all.swap(static_cast<unsigned>(i), all.after(i),
                                           mine.at(all.after(i)), all.before(i), arrived.all());
    all.note(swapped, out.size());
    if (all.intact()) op(out, arrived.all());
  }
}

template <class Lane>
task<status> reduce_scatter(basic_async_group<Lane> on, const_bytes in, bytes out,
                            detail::reducer op) {
  if (!can_reduce(out.size(), op) || !is_blocks(in.size(), out.size(), on.ranks())) {
    co_return status::invalid;
  }
  exchange all(on);
  if (in.empty()) co_return status::done;
  if (in.size() >= long_vector) {
    co_await reduce_scatter_pairwise(all, in, out, op);
  } else {
    co_await reduce_then_scatter(all, in, out, op);
  }
  co_return all.health();
}

}  // namespace heddle::collectives
