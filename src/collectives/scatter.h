// SPDX-License-Identifier: BSD-3-Clause
// scatter.h - binomial tree from the root for small blocks, from the root straight to everyone for
// large ones, and where their sizes differ.
#pragma once
#include <cstddef>
#include <vector>

#include "collectives/gather.h"
#include "collectives/parts.h"

namespace heddle::collectives {

/// Each rank receives the blocks of its subtree, in the order of positions, and passes on all but
/// its own, the largest part first.
template <class Lane>
task<> scatter_tree(exchange<Lane>& all, const_bytes in, bytes out, rank root, unsigned round) {
  const int position = all.before(root);  // counted from the root
  const int ranks = all.ranks();
  const scratch memory(static_cast<std::size_t>(subtree(position, ranks)) * out.size());
  const blocks<std::byte> held(memory.all(), out.size());
  int reach = 1;
  while (reach < ranks && (position & reach) == 0) reach *= 2;
  if (position != 0) {
    all.note(co_await all.recv(all.before(reach), round, memory.all()), memory.all().size());
  } else {
    const blocks<const std::byte> sorted(in, out.size());
    copy(sorted.at(root, ranks - root), held.at(0, ranks - root));
    copy(sorted.at(0, root), held.at(ranks - root, root));
  }
  for (reach /= 2; reach > 0; reach /= 2) {
    if (position + reach >= ranks) continue;
    const bytes part = held.at(reach, subtree(position + reach, ranks));
    all.note(co_await all.send(all.after(reach), round, part));
  }
  copy(held.at(0), out);
}

/// `sorted` is used at the root only.
template <class Lane>
task<> scatter_directly(exchange<Lane>& all, const_bytes in, bytes out, const layout& sorted,
                        rank root) {
  if (all.self() != root) {
    if (!out.empty()) all.note(co_await all.recv(root, 0, out), out.size());
    co_return;
  }
  copy(sorted.of(in, root), out);
  std::vector<task<status>> transfers;
  for (int i = 1; i < all.ranks(); ++i) {
    const rank to = all.after(i);
    if (sorted.size(to) != 0) transfers.push_back(give_block(all, to, sorted.of(in, to)));
  }
  all.note(co_await when_all(transfers));
}

template <class Lane>
task<status> scatter(basic_async_group<Lane> on, const_bytes in, bytes out, rank root) {
  const int ranks = on.ranks();
  if (!is_rank(root, ranks)) co_return status::invalid;
  if (on.self() == root && !is_blocks(in.size(), out.size(), ranks)) co_return status::invalid;
  exchange all(on);
  if (out.empty()) co_return status::done;
  if (out.size() >= direct_gather_block) {
    const std::vector<std::size_t> equal(static_cast<std::size_t>(ranks), out.size());
    const layout sorted({.items = equal});
    co_await scatter_directly(all, in, out, sorted, root);
  } else {
    co_await scatter_tree(all, in, out, root, 0);
  }
  co_return all.health();
}

template <class Lane>
task<status> scatterv(basic_async_group<Lane> on, const_bytes in, detail::part_counts counts,
                      bytes out, rank root) {
  const bool is_root = on.self() == root;
  if (!is_rank(root, on.ranks())) co_return status::invalid;
  const layout parts(is_root ? counts : detail::part_counts{});
  if (is_root && (parts.parts() != on.ranks() || parts.bytes() != in.size() ||
                  parts.size(root) != out.size())) {
    co_return status::invalid;
  }
  exchange all(on);
  co_await scatter_directly(all, in, out, parts, root);
  co_return all.health();
}

}  // namespace heddle::collectives
