// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/matcher.h"

#include <algorithm>
#include <cstring>

#include "protocols/packed.h"
#include "tracing/operation.h"

namespace heddle::protocols {
namespace {

/// Used messages kept for the next ones.
constexpr std::size_t max_spare = 4096;

template <class List>
posted_receive* first_with(List& candidates, const completion& done) noexcept {
  for (posted_receive* r = candidates.front(); r != nullptr; r = List::next(*r)) {
    if (scattered::of_program(trace::of_program(r->done)) == done) return r;
  }
  return nullptr;
}

template <class List>
void collect(List& from, rank source, std::vector<posted_receive*>& into) {
  for (posted_receive* r = from.front(); r != nullptr; r = List::next(*r)) {
    if (r->source == source) into.push_back(r);
  }
}

}  // namespace

void unexpected::copy(std::span<const std::byte> payload) {
  bytes = payload.size();
  if (payload.size() > small.size()) {
    large = std::make_unique_for_overwrite<std::byte[]>(payload.size());
  }
  if (bytes != 0) std::memcpy(large ? large.get() : small.data(), payload.data(), payload.size());
}

std::unique_ptr<unexpected> matcher::fresh() {
  if (spare_.empty()) return std::make_unique<unexpected>();
  auto message = std::move(spare_.back());
  spare_.pop_back();
  return message;
}

void matcher::recycle(std::unique_ptr<unexpected> message) noexcept {
  if (spare_.size() >= max_spare) return;
  message->large.reset();
  message->announced = message->held = false;
  message->failed = status::done;
  message->credit = message->since_ns = message->early = 0;
  message->fetching = nullptr;
  spare_.push_back(std::move(message));
}

matcher::~matcher() {
  while (!arrivals_.empty()) take(*arrivals_.front());
}

/// `known`, or the first one with a wildcard that accepts the message and is older.
posted_receive* matcher::oldest(posted_receive* known, rank source, tag t) const noexcept {
  posted_receive* wild = first_accepting(wild_receives_, source, t);
  if (known == nullptr || wild == nullptr) return known != nullptr ? known : wild;
  return known->order < wild->order ? known : wild;
}

posted_receive* matcher::older(posted_receive* known, rank source, tag t) const noexcept {
  posted_receive* const found = oldest(known, source, t);
  return found != nullptr && found->takes() ? nullptr : found;
}

posted_receive* matcher::find_taker(rank source, tag t) noexcept {
  if (wild_receives_.empty()) return nullptr;
  posted_receive* const known = first_accepting(receives_[bucket_of(source, t)], source, t);
  posted_receive* const found = oldest(known, source, t);
  return found != nullptr && found->takes() ? found : nullptr;
}

void matcher::post_taker(rank source, const tag_match& match, detail::taken_message& place,
                         const completion& done) {
  posted_receive& r = receives_pool_.take();
  r.source = source;
  r.match = match;
  r.into = {reinterpret_cast<std::byte*>(&place), posted_receive::taker_size};
  r.done = done;
  r.order = next_order_++;
  r.since_ns = 0;
  r.filed_in = &wild_receives_;
  wild_receives_.push_back(r);
}

posted_receive* matcher::find_receive(const completion& done) noexcept {
  if (posted_receive* r = first_with(wild_receives_, done)) return r;
  for (receive_list& bucket : receives_) {
    if (posted_receive* r = first_with(bucket, done)) return r;
  }
  return nullptr;
}

std::vector<posted_receive*> matcher::receives_from(rank source) {
  std::vector<posted_receive*> found;
  collect(wild_receives_, source, found);
  for (receive_list& bucket : receives_) collect(bucket, source, found);
  std::ranges::sort(found, {}, &posted_receive::order);
  return found;
}

void matcher::keep(std::unique_ptr<unexpected> message) noexcept {
  unexpected& m = *message.release();
  messages_[bucket_of(m.source, m.tag)].push_back(m);
  arrivals_.push_back(m);
  ++unexpected_count_;
}

unexpected* matcher::look_for_message(rank source, const tag_match& match) noexcept {
  if (source != any_source && match.exact()) {
    message_list& bucket = messages_[bucket_of(source, match.value)];
    for (unexpected* m = bucket.front(); m != nullptr; m = message_list::next(*m)) {
      if (m->source == source && m->tag == match.value) return m;
    }
    return nullptr;
  }
  for (unexpected* m = arrivals_.front(); m != nullptr; m = arrival_list::next(*m)) {
    if ((source == any_source || m->source == source) && match.accepts(m->tag)) return m;
  }
  return nullptr;
}

std::unique_ptr<unexpected> matcher::take(unexpected& message) noexcept {
  messages_[bucket_of(message.source, message.tag)].remove(message);
  arrivals_.remove(message);
  --unexpected_count_;
  return std::unique_ptr<unexpected>(&message);
}

void matcher::forget_announcements(const peer& from) noexcept {
  for (unexpected* m = arrivals_.front(); m != nullptr;) {
    unexpected* next = arrival_list::next(*m);
    if (m->from == &from && m->announced && m->fetching == nullptr) take(*m);
    m = next;
  }
}

}  // namespace heddle::protocols
