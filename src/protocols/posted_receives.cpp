// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/posted_receives.h"

#include <algorithm>

#include "protocols/packed.h"
#include "tracing/operation.h"

namespace heddle::protocols {
namespace {

posted_receive* first_with(const receive_list& candidates, const completion& done) noexcept {
  for (posted_receive* r = candidates.front(); r != nullptr; r = receive_list::next(*r)) {
    if (scattered::of_program(trace::of_program(r->done)) == done) return r;
  }
  return nullptr;
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
  const std::span<std::byte> into{reinterpret_cast<std::byte*>(&place), posted_receive::taker_size};
  file(wild_, source, match, into, done);
}

posted_receive* posted_receives::find(const completion& done) noexcept {
  if (posted_receive* r = first_with(wild_, done)) return r;
  for (const receive_list& bucket : buckets_) {
    if (posted_receive* r = first_with(bucket, done)) return r;
  }
  return nullptr;
}

std::vector<posted_receive*> posted_receives::from(rank source) {
  std::vector<posted_receive*> found;
  each([&](posted_receive& r) {
    if (r.source == source) found.push_back(&r);
  });
  std::ranges::sort(found, {}, &posted_receive::order);
  return found;
}

}  // namespace heddle::protocols
