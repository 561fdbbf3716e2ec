// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/posted_receives.h"

#include <algorithm>

#include "protocols/packed.h"
#include "tracing/operation.h"

namespace heddle::protocols {
namespace {

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

/// `known`, or the first one with a wildcard that accepts the message and is older.
posted_receive* posted_receives::oldest(posted_receive* known, rank source, tag t) const noexcept {
  posted_receive* wild = first_accepting(wild_, source, t);
  if (known == nullptr || wild == nullptr) return known != nullptr ? known : wild;
  return known->order < wild->order ? known : wild;
}

posted_receive* posted_receives::older(posted_receive* known, rank source, tag t) const noexcept {
  posted_receive* const found = oldest(known, source, t);
  return found != nullptr && found->takes() ? nullptr : found;
}

posted_receive* posted_receives::find_taker(rank source, tag t) noexcept {
  if (wild_.empty()) return nullptr;
  posted_receive* const known = first_accepting(buckets_[match_bucket(source, t)], source, t);
  posted_receive* const found = oldest(known, source, t);
  return found != nullptr && found->takes() ? found : nullptr;
}

void posted_receives::post_taker(rank source, const tag_match& match, detail::taken_message& place,
                                 const completion& done) {
  posted_receive& r = pool_.take();
  r.source = source;
  r.match = match;
  r.into = {reinterpret_cast<std::byte*>(&place), posted_receive::taker_size};
  r.done = done;
  r.order = next_order_++;
  r.since_ns = 0;
  r.filed_in = &wild_;
  wild_.push_back(r);
}

posted_receive* posted_receives::find(const completion& done) noexcept {
  if (posted_receive* r = first_with(wild_, done)) return r;
  for (receive_list& bucket : buckets_) {
    if (posted_receive* r = first_with(bucket, done)) return r;
  }
  return nullptr;
}

std::vector<posted_receive*> posted_receives::from(rank source) {
  std::vector<posted_receive*> found;
  collect(wild_, source, found);
  for (receive_list& bucket : buckets_) collect(bucket, source, found);
  std::ranges::sort(found, {}, &posted_receive::order);
  return found;
}

}  // namespace heddle::protocols
