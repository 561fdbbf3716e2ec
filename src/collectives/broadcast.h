// SPDX-License-Identifier: BSD-3-Clause
// broadcast.h - binomial tree from the root: each rank receives once, then serves its subtrees,
// the largest first.
#pragma once
#include "collectives/exchange.h"

namespace heddle::collectives {

template <class Lane>
task<status> broadcast(basic_async_group<Lane> on, bytes data, rank root) {
  const int ranks = on.ranks();
  if (!is_rank(root, ranks)) co_return status::invalid;
  exchange all(on);
  if (data.empty()) co_return status::done;
  const int position = all.before(root);  // counted from the root
  int reach = 1;
  while (reach < ranks && (position & reach) == 0) reach *= 2;
  if (position != 0) all.note(co_await all.recv(all.before(reach), 0, data), data.size());
  for (reach /= 2; reach > 0; reach /= 2) {
    if (position + reach < ranks) all.note(co_await all.send(all.after(reach), 0, data));
  }
  co_return all.health();
}

}  // namespace heddle::collectives
