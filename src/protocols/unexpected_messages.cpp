// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/unexpected_messages.h"

#include <cstring>

namespace heddle::protocols {
namespace {

/// Used messages kept for the next ones, 4 MiB at most: more than two peers cause with the default
/// credit. A flood takes as many and gives them back again and again, and where these went to the
/// heap it would return their pages to the system each time.
constexpr std::size_t max_spare = 16'384;

}  // namespace

void unexpected::copy(std::span<const std::byte> payload) {
  bytes = payload.size();
  if (payload.size() > small.size()) {
    large = std::make_unique_for_overwrite<std::byte[]>(payload.size());
  }
  if (bytes != 0) std::memcpy(large ? large.get() : small.data(), payload.data(), payload.size());
}

std::unique_ptr<unexpected> unexpected_messages::fresh() {
  if (spare_.empty()) return std::make_unique<unexpected>();
  auto message = std::move(spare_.back());
  spare_.pop_back();
  return message;
}

void unexpected_messages::recycle(std::unique_ptr<unexpected> message) noexcept {
  if (spare_.size() >= max_spare) return;
  message->large.reset();
  message->announced = message->held = false;
  message->failed = status::done;
  message->credit = message->since_ns = message->early = 0;
  message->fetching = nullptr;
  spare_.push_back(std::move(message));
}

unexpected_messages::~unexpected_messages() {
  while (!arrivals_.empty()) take(*arrivals_.front());
}

void unexpected_messages::keep(std::unique_ptr<unexpected> message) noexcept {
  unexpected& m = *message.release();
  buckets_[match_bucket(m.source, m.tag)].push_back(m);
  arrivals_.push_back(m);
  ++size_;
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

std::unique_ptr<unexpected> unexpected_messages::take(unexpected& message) noexcept {
  buckets_[match_bucket(message.source, message.tag)].remove(message);
  arrivals_.remove(message);
  --size_;
  return std::unique_ptr<unexpected>(&message);
}

void unexpected_messages::forget_announcements(const peer& from) noexcept {
  for (unexpected* m = arrivals_.front(); m != nullptr;) {
    unexpected* next = arrival_list::next(*m);
    if (m->from == &from && m->announced && m->fetching == nullptr) take(*m);
    m = next;
  }
}

}  // namespace heddle::protocols
