// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flush_queue.h"

#include <algorithm>
#include <iterator>

namespace heddle::protocols {

void flush_queue::add(request& flush, std::uint64_t number, std::uint64_t under_way) {
  waiting_.push_back({&flush, number, under_way - awaited_});
  awaited_ = under_way;
}

void flush_queue::note_end(std::uint64_t mark) noexcept {
  const auto first = std::ranges::upper_bound(waiting_, mark, {}, &entry::number);
  if (first == waiting_.end()) return;
  --first->left;
  --awaited_;
}

request* flush_queue::take_ended() noexcept {
  if (waiting_.empty() || waiting_.front().left != 0) return nullptr;
  request* const ended = waiting_.front().flush;
  waiting_.erase(waiting_.begin());
  return ended;
}

/// What it waited for is what the next one waits for as well.
void flush_queue::remove(const request& flush) noexcept {
  const auto at = std::ranges::find(waiting_, &flush, &entry::flush);
  if (at == waiting_.end()) return;
  if (const auto next = std::next(at); next != waiting_.end())
    next->left += at->left;
  else
    awaited_ -= at->left;
  waiting_.erase(at);
}

}  // namespace heddle::protocols
