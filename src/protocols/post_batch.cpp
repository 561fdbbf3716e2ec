// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/post_batch.h"

#include <span>

#include "protocols/protocol.h"

namespace heddle::protocols {

void post_batch::post() {
  if (size_ == 0 || posting_) return;
  posting_ = true;
  for (std::size_t i = 0; i < size_;) post_run(i);
  size_ = 0;
  posting_ = false;
}

/// Posts the first of what is left together with those behind it that go the same way.
void post_batch::post_run(std::size_t& from) {
  request& first = at(from);
  if (first.with->blocked || first.with->lost) {
    ++from;
    return owner_.refused(first, status::busy_queue);
  }
  const std::size_t end = end_of_run(from);
  const auto [taken, reason] = first.with->wire.by->post(std::span(ops_).subspan(from, end - from));
  if (taken > 1) {
    counters_.posts_together.add();
    counters_.posted_together.add(taken);
  }
  for (const std::size_t behind = from + taken; from < behind; ++from) {
    request& r = at(from);
    if (!r.over) continue;
    take_in_hand(r);
    r.owner->ended(r, status::done);
  }
  if (from < end) owner_.refused(at(from++), reason);
}

/// Up to where they are for one endpoint, and for peers with nothing in their way.
std::size_t post_batch::end_of_run(std::size_t from) const noexcept {
  const transport::endpoint* const wire = at(from).with->wire.by;
  std::size_t i = from + 1;
  for (; i < size_; ++i) {
    const peer& p = *at(i).with;
    if (p.wire.by != wire || p.blocked || p.lost) break;
  }
  return i;
}

}  // namespace heddle::protocols
