// SPDX-License-Identifier: BSD-3-Clause
// gather.h - binomial tree towards the root for small blocks, everyone straight to the root for
// large ones, which a tree would copy log2(ranks) times.
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

#include "collectives/parts.h"

namespace heddle::collectives {

inline constexpr std::size_t direct_gather_block = 8 * 1024;

/// Blocks in the subtree of the rank at `position`, itself included.
[[nodiscard]] inline int subtree(int position, int ranks) noexcept {
  return position == 0 ? ranks : std::min(position & -position, ranks - position);
}

/// Each rank collects its subtree, blocks in the order of positions, and sends it on in one.
template <class Lane>
task<> gather_tree(exchange<Lane>& all, const_bytes in, bytes out, rank root) {
  const int position = all.before(root);  // counted from the root
  const int ranks = all.ranks();
  const scratch memory(static_cast<std::size_t>(subtree(position, ranks)) * in.size());
  const blocks<std::byte> collected(memory.all(), in.size());
  copy(in, collected.at(0));
  int reach = 1;
  for (; reach < ranks && (position & reach) == 0; reach *= 2) {
    if (position + reach >= ranks) continue;
    const bytes part = collected.at(reach, subtree(position + reach, ranks));
    all.note(co_await all.recv(all.after(reach), 0, part), part.size());
  }
  if (position != 0) {
    all.note(co_await all.send(all.before(reach), 0, memory.all()));
  } else {
    const blocks<std::byte> sorted(out, in.size());
    copy(collected.at(0, ranks - root), sorted.at(root, ranks - root));
    copy(collected.at(ranks - root, root), sorted.at(0, root));
  }
}

template <class Lane>
task<> gather_directly(exchange<Lane>& all, const_bytes in, bytes out, rank root) {
  if (all.self() != root) {
    all.note(co_await all.send(root, 0, in));
    co_return;
  }
  const blocks<std::byte> sorted(out, in.size());
  copy(in, sorted.at(root));
  std::vector<task<status>> transfers;
  for (int i = 1; i < all.ranks(); ++i) {
    transfers.push_back(take_block(all, all.after(i), sorted.at(all.after(i))));
  }
  all.note(co_await when_all(transfers));
}

template <class Lane>
task<status> gather(basic_async_group<Lane> on, const_bytes in, bytes out, rank root) {
  const int ranks = on.ranks();
  if (!is_rank(root, ranks)) co_return status::invalid;
  if (on.self() == root && !is_blocks(out.size(), in.size(), ranks)) {
    co_return status::invalid;
  }
  exchange all(on);
  if (in.empty()) co_return status::done;
  if (in.size() >= direct_gather_block) {
    co_await gather_directly(all, in, out, root);
  } else {
    co_await gather_tree(all, in, out, root);
  }
  co_return all.health();
}

}  // namespace heddle::collectives
