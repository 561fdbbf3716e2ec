// SPDX-License-Identifier: BSD-3-Clause
// allgather.h - Bruck's algorithm for small blocks, log2(ranks) messages; a ring for large ones,
// which sends each block once over each link and copies nothing.
#pragma once
#include <algorithm>
#include <cstddef>

#include "collectives/exchange.h"

namespace heddle::collectives {

inline constexpr std::size_t ring_block = 8 * 1024;

/// Round k adds the blocks of the ranks 2^k and more after this one: the run of blocks doubles.
template <class Lane>
task<> allgather_bruck(exchange<Lane>& all, const_bytes in, bytes out) {
  const int ranks = all.ranks();
  const scratch memory(out.size());
  const blocks<std::byte> run(memory.all(), in.size());  // block i is that of rank self + i
  copy(in, run.at(0));
  unsigned round = 0;
  for (int have = 1; have < ranks; have *= 2) {
    const int count = std::min(have, ranks - have);
    const bytes more = run.at(have, count);
    const auto swapped =
        co_await all.swap(round++, all.before(have), run.at(0, count), all.after(have), more);
    all.note(swapped, more.size());
  }
  const blocks<std::byte> sorted(out, in.size());
  copy(run.at(0, ranks - all.self()), sorted.at(all.self(), ranks - all.self()));
  copy(run.at(ranks - all.self(), all.self()), sorted.at(0, all.self()));
}

/// Each step passes on the block that came with the step before.
template <class Lane>
task<> allgather_ring(exchange<Lane>& all, const_bytes in, bytes out) {
  const blocks<std::byte> sorted(out, in.size());
  copy(in, sorted.at(all.self()));
  for (int step = 0; step + 1 < all.ranks(); ++step) {
    const bytes next = sorted.at(all.before(step + 1));
    const auto swapped = co_await all.swap(static_cast<unsigned>(step), all.after(1),
                                           sorted.at(all.before(step)), all.before(1), next);
    all.note(swapped, next.size());
  }
}

template <class Lane>
task<status> allgather(basic_async_group<Lane> on, const_bytes in, bytes out) {
  if (!is_blocks(out.size(), in.size(), on.ranks())) co_return status::invalid;
  exchange all(on);
  if (in.empty()) co_return status::done;
  if (in.size() >= ring_block) {
    co_await allgather_ring(all, in, out);
  } else {
    co_await allgather_bruck(all, in, out);
  }
  co_return all.health();
}

}  // namespace heddle::collectives
