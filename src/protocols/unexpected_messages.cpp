// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/unexpected_messages.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace heddle::protocols {
namespace {

/// Messages whose memory is always kept, 4 MiB: more than two peers cause with the default credit.
constexpr std::size_t always_kept = 16'384;
/// Small waves after a large one before its memory is given back.
constexpr std::uint32_t calm = 10'000;

}  // namespace

void unexpected::copy(std::span<const std::byte> payload) {
  bytes = payload.size();
  if (payload.size() > small.size()) {
    large = memory_for(payload.size());
    if (large == nullptr) throw std::bad_alloc();
  }
  if (bytes != 0) std::memcpy(large ? large.get() : small.data(), payload.data(), payload.size());
}

void unexpected_messages::recycle(unexpected& message) noexcept {
  message.large.reset();
  message.announced = message.held = false;
  message.failed = status::done;
  message.credit = message.since_ns = message.early = 0;
  pool_.give_back(message);
  if (pool_.in_use() == 0) rest();
}

/// A flood comes in waves, small ones among them, and each uses the memory of the last. Giving it
/// back to the system and taking it again would cost more than the messages.
void unexpected_messages::rest() noexcept {
  if (pool_.size() <= always_kept) return;
  const bool was_small = std::exchange(most_, 0) < pool_.size() / 2;
  small_waves_ = was_small ? small_waves_ + 1 : 0;
  if (small_waves_ < calm) return;
  pool_.clear();
  small_waves_ = 0;
}

void unexpected_messages::keep(unexpected& message) noexcept {
  buckets_[match_bucket(message.source, message.tag)].push_back(message);
  arrivals_.push_back(message);
  most_ = std::max(most_, ++size_);
}

unexpected* unexpected_messages::look_for(rank source, const tag_match& match) noexcept {
  if (is_exact(source, match)) {
    bucket_list& bucket = buckets_[match_bucket(source, match.value)];
    for (unexpected* m = bucket.front(); m != nullptr; m = bucket_list::next(*m)) {
      if (m->source == source && m->tag == match.value) return m;
    }
    return nullptr;
  }
  for (unexpected* m = arrivals_.front(); m != nullptr; m = arrival_list::next(*m)) {
    if ((source == any_source || m->source == source) && match.accepts(m->tag)) return m;
  }
  return nullptr;
}

unexpected& unexpected_messages::take(unexpected& message) noexcept {
  buckets_[match_bucket(message.source, message.tag)].remove(message);
  arrivals_.remove(message);
  --size_;
  return message;
}

void unexpected_messages::forget_announcements(const peer& from) noexcept {
  for (unexpected* m = arrivals_.front(); m != nullptr;) {
    unexpected* next = arrival_list::next(*m);
    if (m->from == &from && m->announced && m->fetching == nullptr) recycle(take(*m));
    m = next;
  }
}

}  // namespace heddle::protocols
