#include "protocols/matcher.h"

#include <cstring>

namespace heddle::protocols {
namespace {

/// Used messages kept for the next ones.
constexpr std::size_t max_spare = 4096;

bool exact(const command& c) noexcept {
  return c.peer != any_source && c.match.exact();
}

bool accepts(const command& c, rank source, tag t) noexcept {
  return (c.peer == any_source || c.peer == source) && c.match.accepts(t);
}

/// The first receive of `candidates` that accepts the message: lists are in order of age.
record* first_accepting(bucket_list& candidates, rank source, tag t) noexcept {
  for (record* r = candidates.front(); r != nullptr; r = bucket_list::next(*r)) {
    if (accepts(r->what, source, t)) return r;
  }
  return nullptr;
}

record* first_with(bucket_list& candidates, const completion& done) noexcept {
  for (record* r = candidates.front(); r != nullptr; r = bucket_list::next(*r)) {
    if (r->what.done == done) return r;
  }
  return nullptr;
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
  message->announced = false;
  message->credit = 0;
  spare_.push_back(std::move(message));
}

matcher::~matcher() {
  while (!arrivals_.empty()) take(*arrivals_.front());
}

std::size_t matcher::bucket_of(rank source, tag t) noexcept {
  const std::uint64_t mixed =
      (t ^ (static_cast<std::uint64_t>(source) << 40)) * 0x9e3779b97f4a7c15;  // golden ratio
  return mixed >> 54;  // the upper 10 bits are the best mixed
}

void matcher::post(record& receive) noexcept {
  const command& c = receive.what;
  receive.order = next_order_++;
  receive.at = stage::matching;
  (exact(c) ? receives_[bucket_of(c.peer, c.match.value)] : wild_receives_).push_back(receive);
}

void matcher::remove(record& receive) noexcept {
  const command& c = receive.what;
  (exact(c) ? receives_[bucket_of(c.peer, c.match.value)] : wild_receives_).remove(receive);
}

record* matcher::find_receive(rank source, tag t) noexcept {
  record* known = first_accepting(receives_[bucket_of(source, t)], source, t);
  if (wild_receives_.empty()) return known;
  record* wild = first_accepting(wild_receives_, source, t);
  if (known == nullptr || wild == nullptr) return known != nullptr ? known : wild;
  return known->order < wild->order ? known : wild;
}

record* matcher::find_receive(const completion& done) noexcept {
  if (record* r = first_with(wild_receives_, done)) return r;
  for (bucket_list& bucket : receives_) {
    if (record* r = first_with(bucket, done)) return r;
  }
  return nullptr;
}

void matcher::keep(std::unique_ptr<unexpected> message) noexcept {
  unexpected& m = *message.release();
  messages_[bucket_of(m.source, m.tag)].push_back(m);
  arrivals_.push_back(m);
  ++unexpected_count_;
}

unexpected* matcher::find_message(rank source, const tag_match& match) noexcept {
  if (unexpected_count_ == 0) return nullptr;
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

void matcher::forget_requests(rank source) noexcept {
  for (unexpected* m = arrivals_.front(); m != nullptr;) {
    unexpected* next = arrival_list::next(*m);
    if (m->source == source && m->announced) take(*m);
    m = next;
  }
}

}  // namespace heddle::protocols
