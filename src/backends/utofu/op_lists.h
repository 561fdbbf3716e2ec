// SPDX-License-Identifier: BSD-3-Clause
// op_lists.h - posting several ops: as many as can in one list, and one by one where that is not to
// be.
#pragma once
#include <heddle/status.h>

#include <algorithm>
#include <cstddef>
#include <span>

#include "backends/utofu/work_queue.h"
#include "transport/endpoint.h"

namespace heddle::transport::utofu {

/// All of a list is posted or nothing, so a queue that is nearly full gets shorter lists until it
/// has room again.
///
/// `Way` is how ops are posted: start(op) answers done, posted, or why nothing has happened;
/// goes_alone(op): it is not to share a list; open_list(), and close_list(), which answers done, or
/// why nothing of the list was posted; then take_back(op) is called for each that was started, the
/// last one first.
class op_lists {
 public:
  template <class Way>
  [[gnu::noinline]] post_result post(std::span<op* const> ops, Way way) noexcept {
    std::size_t taken = 0;
    while (taken < ops.size()) {
      const auto rest = ops.subspan(taken);
      const std::size_t listed = rest.size() > 1 && limit_ > 1 ? post_list(rest, way) : 0;
      taken += listed;
      if (listed != 0) continue;
      const status s = way.start(*rest[0]);
      if (!accepted(s)) return {taken, s};
      ++taken;
      limit_ = std::max<std::size_t>(limit_, 2);
    }
    return {taken, status::done};
  }

 private:
  /// As many of the first as can go in one list; the next one, posted alone, tells why no more.
  template <class Way>
  std::size_t post_list(std::span<op* const> ops, Way way) noexcept {
    ops = ops.first(std::min(ops.size(), limit_));
    const auto alone =
        std::find_if(ops.begin(), ops.end(), [&](op* o) { return way.goes_alone(*o); });
    ops = ops.first(static_cast<std::size_t>(alone - ops.begin()));
    way.open_list();
    std::size_t count = 0;
    while (count < ops.size() && accepted(way.start(*ops[count]))) ++count;
    const status posted = way.close_list();
    if (posted == status::done) {
      limit_ = std::min(2 * limit_, max_list);
      return count;
    }
    while (count != 0) way.take_back(*ops[--count]);
    // One that the hardware refuses is found when they are posted one by one.
    limit_ = posted == status::busy_queue ? std::max<std::size_t>(1, limit_ / 2) : 1;
    return 0;
  }

  std::size_t limit_ = max_list;  // of ops in a list
};

}  // namespace heddle::transport::utofu
