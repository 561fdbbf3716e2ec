// SPDX-License-Identifier: BSD-3-Clause
// alltoall.h - Bruck's algorithm for small blocks, log2(ranks) messages; pairwise exchange for
// large ones, which sends each block straight to where it belongs.
#pragma once
#include <cstddef>

#include "collectives/exchange.h"

namespace heddle::collectives {

inline constexpr std::size_t pairwise_block = 512;

/// Moves the blocks whose index has `bit` between `all` and `packed`; returns how many.
template <class Copy>
int for_blocks_with(int bit, int ranks, Copy move) noexcept {
  int count = 0;
  for (int i = bit; i < ranks; ++i) {
    if ((i & bit) != 0) move(i, count++);
  }
  return count;
}

/// Block i has i ranks to go. In round k those with bit k set in i travel 2^k ranks.
template <class Lane>
task<> alltoall_bruck(exchange<Lane>& all, const_bytes in, bytes out, std::size_t block) {
  const int ranks = all.ranks();
  const scratch memory(3 * in.size());
  const blocks<std::byte> moving(memory.first(in.size()), block);
  const blocks<std::byte> leaving(memory.all().subspan(in.size(), in.size()), block);
  const blocks<std::byte> arriving(memory.all().subspan(2 * in.size()), block);
  const blocks<const std::byte> mine(in, block);
  for (int i = 0; i < ranks; ++i) copy(mine.at(all.after(i)), moving.at(i));
  unsigned round = 0;
  for (int bit = 1; bit < ranks; bit *= 2) {
    const int count =
        for_blocks_with(bit, ranks, [&](int i, int n) { copy(moving.at(i), leaving.at(n)); });
    const auto swapped = co_await all.swap(round++, all.after(bit), leaving.at(0, count),
                                           all.before(bit), arriving.at(0, count));
    all.note(swapped, arriving.at(0, count).size());
    for_blocks_with(bit, ranks, [&](int i, int n) { copy(arriving.at(n), moving.at(i)); });
  }
  const blocks<std::byte> sorted(out, block);
  for (int i = 0; i < ranks; ++i) copy(moving.at(i), sorted.at(all.before(i)));
}

template <class Lane>
task<> alltoall_pairwise(exchange<Lane>& all, const_bytes in, bytes out, std::size_t block) {
  const blocks<const std::byte> mine(in, block);
  const blocks<std::byte> sorted(out, block);
  copy(mine.at(all.self()), sorted.at(all.self()));
  for (int i = 1; i < all.ranks(); ++i) {
    const auto swapped = co_await all.swap(0, all.after(i), mine.at(all.after(i)), all.before(i),
                                           sorted.at(all.before(i)));
    all.note(swapped, block);
  }
}

template <class Lane>
task<status> alltoall(basic_async_group<Lane> on, const_bytes in, bytes out) {
  const std::size_t block = in.size() / static_cast<std::size_t>(on.ranks());
  if (!is_blocks(in.size(), block, on.ranks()) || out.size() != in.size()) {
    co_return status::invalid;
  }
  exchange all(on);
  if (in.empty()) co_return status::done;
  if (block >= pairwise_block) {
    co_await alltoall_pairwise(all, in, out, block);
  } else {
    co_await alltoall_bruck(all, in, out, block);
  }
  co_return all.health();
}

}  // namespace heddle::collectives
