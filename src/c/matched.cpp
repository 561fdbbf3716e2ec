// SPDX-License-Identifier: BSD-3-Clause
// matched.cpp - c.h: messages that are taken out of matching.
#include <chrono>
#include <new>
#include <utility>

#include "c/convert.h"

using heddle::tag_match;
using heddle::c::bytes_of;
using heddle::c::of;

heddle_matched* heddle_matched_new(void) {
  return new (std::nothrow) heddle_matched;
}
void heddle_matched_free(heddle_matched* matched) {
  delete matched;
}
bool heddle_matched_holds(const heddle_matched* matched) {
  return matched->message.holds();
}
heddle_outcome heddle_matched_what(const heddle_matched* matched) {
  return of(matched->message.what());
}
void heddle_matched_drop(heddle_matched* matched) {
  matched->message.drop();
}
void heddle_matched_move(heddle_matched* into, heddle_matched* from) {
  into->message = std::move(from->message);
}
heddle_status heddle_try_probe_matched(heddle_lane* lane, heddle_rank from, heddle_tag tag,
                                       uint64_t mask, heddle_matched* out) {
  return of(of(lane).try_probe(from, tag_match(tag, mask), out->message));
}
heddle_status heddle_try_match(heddle_lane* lane, heddle_rank from, heddle_tag tag, uint64_t mask,
                               heddle_matched* into, heddle_completion ended) {
  return of(of(lane).try_match(from, tag_match(tag, mask), into->message, of(ended)));
}
heddle_outcome heddle_match(heddle_lane* lane, heddle_rank from, heddle_tag tag, uint64_t mask,
                            heddle_matched* into) {
  return of(of(lane).match(from, tag_match(tag, mask), into->message));
}
heddle_outcome heddle_match_for(heddle_lane* lane, heddle_rank from, heddle_tag tag, uint64_t mask,
                                heddle_matched* into, int64_t limit_ns) {
  return of(of(lane).match_for(from, tag_match(tag, mask), into->message,
                               std::chrono::nanoseconds(limit_ns)));
}
heddle_status heddle_try_recv_matched(heddle_lane* lane, heddle_matched* matched, void* into,
                                      size_t bytes, heddle_completion ended) {
  return of(of(lane).try_recv(matched->message, bytes_of(into, bytes), of(ended)));
}
heddle_outcome heddle_recv_matched(heddle_lane* lane, heddle_matched* matched, void* into,
                                   size_t bytes) {
  return of(of(lane).recv(matched->message, bytes_of(into, bytes)));
}
