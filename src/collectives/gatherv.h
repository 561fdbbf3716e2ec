// SPDX-License-Identifier: BSD-3-Clause
// gatherv.h - gather and allgather of parts whose sizes differ. To one rank everyone sends
// straight: who is between does not know the sizes. To all by Bruck's algorithm or, for large ones,
// a ring.
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

#include "collectives/allgather.h"
#include "collectives/parts.h"

namespace heddle::collectives {

template <class Lane>
task<status> gatherv(basic_async_group<Lane> on, const_bytes in, bytes out,
                     detail::part_counts counts, rank root) {
  const bool is_root = on.self() == root;
  if (!is_rank(root, on.ranks())) co_return status::invalid;
  const layout parts(is_root ? counts : detail::part_counts{});
  if (is_root && (parts.parts() != on.ranks() || parts.bytes() != out.size() ||
                  parts.size(root) != in.size())) {
    co_return status::invalid;
  }
  exchange all(on);
  if (!is_root) {
    if (!in.empty()) all.note(co_await all.send(root, 0, in));
    co_return all.health();
  }
  copy(in, parts.of(out, root));
  std::vector<task<status>> transfers;
  for (int i = 1; i < all.ranks(); ++i) {
    const rank from = all.after(i);
    if (parts.size(from) != 0) transfers.push_back(take_block(all, from, parts.of(out, from)));
  }
  all.note(co_await when_all(transfers));
  co_return all.health();
}

/// As allgather_bruck: part i of the run is that of rank self + i.
template <class Lane>
task<> allgatherv_bruck(exchange<Lane>& all, bytes out, const layout& sorted, const layout& run) {
  const int ranks = all.ranks();
  const scratch memory(out.size());
  copy(sorted.of(out, all.self()), run.of(memory.all(), 0));
  unsigned round = 0;
  for (int have = 1; have < ranks; have *= 2) {
    const int count = std::min(have, ranks - have);
    co_await swap_parts(all, round++, all.before(have), run.of(memory.all(), 0, count),
                        all.after(have), run.of(memory.all(), have, count));
  }
  copy(run.of(memory.all(), 0, ranks - all.self()), sorted.of(out, all.self(), ranks - all.self()));
  copy(run.of(memory.all(), ranks - all.self(), all.self()), sorted.of(out, 0, all.self()));
}

/// As allgather_ring.
template <class Lane>
task<> allgatherv_ring(exchange<Lane>& all, bytes out, const layout& sorted) {
  for (int step = 0; step + 1 < all.ranks(); ++step) {
    co_await swap_parts(all, static_cast<unsigned>(step), all.after(1),
                        sorted.of(out, all.before(step)), all.before(1),
                        sorted.of(out, all.before(step + 1)));
  }
}

template <class Lane>
task<status> allgatherv(basic_async_group<Lane> on, const_bytes in, bytes out,
                        detail::part_counts counts) {
  const layout sorted(counts);
  if (sorted.parts() != on.ranks() || sorted.bytes() != out.size() ||
      sorted.size(on.self()) != in.size()) {
    co_return status::invalid;
  }
  exchange all(on);
  if (out.empty()) co_return status::done;
  copy(in, sorted.of(out, all.self()));
  if (out.size() / static_cast<std::size_t>(all.ranks()) >= ring_block) {
    co_await allgatherv_ring(all, out, sorted);
  } else {
    const layout run(counts, all.self());
    co_await allgatherv_bruck(all, out, sorted, run);
  }
  co_return all.health();
}

}  // namespace heddle::collectives
