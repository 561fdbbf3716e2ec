// SPDX-License-Identifier: BSD-3-Clause
// scan.h - recursive doubling: in round k each rank tells the one 2^k after it, which combines.
#pragma once
#include <utility>

#include "collectives/parts.h"
#include "collectives/reduce.h"

namespace heddle::collectives {

enum class scan_kind : bool { inclusive, exclusive };

/// The partial result of a rank is that of the 2^k ranks up to it after k rounds, or of all of
/// them.
template <class Lane>
task<status> scan(basic_async_group<Lane> on, const_bytes in, bytes out, detail::reducer op,
                  scan_kind kind) {
  if (!can_reduce(in.size(), op) || out.size() != in.size()) co_return status::invalid;
  exchange all(on);
  if (in.empty()) co_return status::done;
  const bool exclusive = kind == scan_kind::exclusive;
  const scratch memory((exclusive ? 2 : 1) * in.size());
  const bytes arrived = memory.first(in.size());
  const bytes partial = exclusive ? memory.all().subspan(in.size()) : out;
  copy(in, partial);
  const rank self = all.self();
  bool has_some = false;  // exclusive: in `out`
  unsigned round = 0;
  for (int distance = 1; distance < all.ranks(); distance *= 2) {
    const bool gives = self + distance < all.ranks();
    const bool takes = self >= distance;
    co_await swap_parts(all, round++, self + distance, gives ? partial : bytes{}, self - distance,
                        takes ? arrived : bytes{});
    if (!takes || !all.intact()) continue;
    op(partial, arrived);
    if (!exclusive) continue;
    if (std::exchange(has_some, true)) {
      op(out, arrived);
    } else {
      copy(arrived, out);
    }
  }
  co_return all.health();
}

}  // namespace heddle::collectives
