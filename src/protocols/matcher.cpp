#include "protocols/matcher.h"

#include <algorithm>
#include <cstring>

namespace heddle::protocols {
namespace {

/// Used messages kept for the next ones.
constexpr std::size_t max_spare = 4096;

/// The first receive of `candidates` that accepts the message: lists are in order of age.
template <class List>
posted_receive* first_accepting(List& candidates, rank source, tag t) noexcept {
  for (posted_receive* r = candidates.front(); r != nullptr; r = List::next(*r)) {
    if (r->accepts(source, t)) return r;
  }
  return nullptr;
}

template <class List>
posted_receive* first_with(List& candidates, const completion& done) noexcept {
  for (posted_receive* r = candidates.front(); r != nullptr; r = List::next(*r)) {
    if (r->done == done) return r;
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
  message->announced = false;
  message->credit = message->since_ns = 0;
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

void matcher::grow() {
  auto& slab = slabs_.emplace_back(std::make_unique<posted_receive[]>(slab_receives));
  free_.reserve(slabs_.size() * slab_receives);
  for (std::size_t i = slab_receives; i-- > 0;) free_.push_back(&slab[i]);
}

posted_receive& matcher::post(const posted_receive& wanted) {
  if (free_.empty()) grow();
  posted_receive& r = *free_.back();
  free_.pop_back();
  r = wanted;
  r.order = next_order_++;
  list_of(r).push_back(r);
  ++receive_count_;
  return r;
}

posted_receive matcher::take(posted_receive& filed) noexcept {
  list_of(filed).remove(filed);
  --receive_count_;
  free_.push_back(&filed);
  return filed;
}

posted_receive* matcher::find_receive(rank source, tag t) noexcept {
  posted_receive* known = first_accepting(receives_[bucket_of(source, t)], source, t);
  if (wild_receives_.empty()) return known;
  posted_receive* wild = first_accepting(wild_receives_, source, t);
  if (known == nullptr || wild == nullptr) return known != nullptr ? known : wild;
  return known->order < wild->order ? known : wild;
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
