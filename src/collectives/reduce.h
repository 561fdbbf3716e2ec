// SPDX-License-Identifier: BSD-3-Clause
// reduce.h - binomial tree towards the root: each rank combines its subtrees, then sends once.
#pragma once
#include <heddle/detail/reducer.h>

#include <cstddef>

#include "collectives/exchange.h"

namespace heddle::collectives {

[[nodiscard]] inline bool can_reduce(std::size_t in, const detail::reducer& op) noexcept {
  return op.combine != nullptr && in % op.item_bytes == 0;
}

/// `out` is used at the root only.
template <class Lane>
task<> reduce_tree(exchange<Lane>& all, const_bytes in, bytes out, detail::reducer op, rank root) {
  const int position = all.before(root);  // counted from the root
  if (position % 2 == 1) {                // nobody to combine with
    all.note(co_await all.send(all.before(1), 0, in));
    co_return;
  }
  const std::size_t size = in.size();
  const scratch memory(position == 0 ? size : 2 * size);
  const bytes arrived = memory.first(size);
  const bytes total = position == 0 ? out : memory.all().subspan(size);
  copy(in, total);
  int reach = 1;
  for (; reach < all.ranks() && (position & reach) == 0; reach *= 2) {
    if (position + reach >= all.ranks()) continue;
    all.note(co_await all.recv(all.after(reach), 0, arrived), size);
    if (all.intact()) op(total, arrived);
  }
  if (position != 0) all.note(co_await all.send(all.before(reach), 0, total));
}

template <class Lane>
task<status> reduce(basic_async_group<Lane> on, const_bytes in, bytes out, detail::reducer op,
                    rank root) {
  if (!is_rank(root, on.ranks()) || !can_reduce(in.size(), op)) co_return status::invalid;
  if (on.self() == root && out.size() != in.size()) co_return status::invalid;
  exchange all(on);
  if (in.empty()) co_return status::done;
  co_await reduce_tree(all, in, out, op, root);
  co_return all.health();
}

}  // namespace heddle::collectives
