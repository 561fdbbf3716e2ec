// SPDX-License-Identifier: BSD-3-Clause
// lane.cpp - c.h: operations on a lane.
#include <heddle/detail/outcome_of.h>

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "c/convert.h"

// NOLINTBEGIN(readability-function-size): C has neither spans nor defaults
using heddle::completion;
using heddle::destination;
using heddle::status;
using heddle::tag_match;
using heddle::c::bytes_of;
using heddle::c::of;
using std::chrono::nanoseconds;

namespace {

template <class T>
status post_atomic(heddle::lane& on, heddle_atomic_op op, heddle_address at, uint64_t operand,
                   uint64_t compare, void* old, const completion& ended) noexcept {
  return on.try_atomic(static_cast<heddle::atomic_op>(op), heddle::remote_ptr<T>{of(at)},
                       static_cast<T>(operand), static_cast<T*>(old), ended,
                       static_cast<T>(compare));
}

status atomic(heddle::lane& on, heddle_atomic_op op, unsigned width, heddle_address at,
              uint64_t operand, uint64_t compare, void* old, const completion& ended) noexcept {
  if (op < HEDDLE_ADD || op > HEDDLE_FLOAT_ADD) return status::invalid;
  if (width == 4) return post_atomic<std::uint32_t>(on, op, at, operand, compare, old, ended);
  if (width == 8) return post_atomic<std::uint64_t>(on, op, at, operand, compare, old, ended);
  return status::invalid;
}

/// What C passes for another one is none.
heddle::atomic_op signal_op(heddle_atomic_op how) noexcept {
  if (how == HEDDLE_ADD) return heddle::atomic_op::add;
  return how == HEDDLE_SWAP ? heddle::atomic_op::swap : heddle::atomic_op::compare_swap;
}

template <class T>
bool wait_until(heddle::lane& on, const void* word, bool (*true_of)(void*, uint64_t), void* context,
                nanoseconds limit) noexcept {
  return on.wait_until(
      *static_cast<const T*>(word), [&](T value) { return true_of(context, value); }, limit);
}

}  // namespace

void heddle_lane_options_init(heddle_lane_options* options, size_t size) {
  heddle::c::begin_sized(options, size, {.size = 0, .number = -1, .exclusive = 0});
}
heddle_lane* heddle_lane_open(heddle_world* world, const heddle_lane_options* options) {
  heddle_lane_options known;
  heddle_lane_options_init(&known, sizeof known);
  if (options != nullptr) std::memcpy(&known, options, std::min(options->size, sizeof known));
  return heddle::c::or_failed(static_cast<heddle_lane*>(nullptr), [&] {
    return reinterpret_cast<heddle_lane*>(new heddle::lane(
        world->world, {.number = known.number, .exclusive = known.exclusive != 0}));
  });
}
void heddle_lane_close(heddle_lane* lane) {
  delete reinterpret_cast<heddle::lane*>(lane);
}
int heddle_lane_number(const heddle_lane* lane) {
  return of(lane).number();
}
char* heddle_lane_why(const heddle_lane* lane, heddle_rank peer) {
  return heddle::c::text_of([&] { return of(lane).why(peer); });
}

// --- without waiting ----------------------------------------------------------------------------

heddle_status heddle_try_put(heddle_lane* lane, const void* from, size_t bytes, heddle_address to,
                             heddle_completion ended) {
  return of(of(lane).try_put(bytes_of(from, bytes), of(to), of(ended)));
}
heddle_status heddle_try_get(heddle_lane* lane, void* into, size_t bytes, heddle_address from,
                             heddle_completion ended) {
  return of(of(lane).try_get(bytes_of(into, bytes), of(from), of(ended)));
}
heddle_status heddle_try_put_notify(heddle_lane* lane, const void* from, size_t bytes,
                                    heddle_address to, uint16_t handler, uint64_t value,
                                    heddle_completion ended) {
  return of(of(lane).try_put_notify(bytes_of(from, bytes), of(to), handler, value, of(ended)));
}
heddle_status heddle_try_atomic(heddle_lane* lane, heddle_atomic_op op, unsigned width,
                                heddle_address at, uint64_t operand, uint64_t compare, void* old,
                                heddle_completion ended) {
  return of(atomic(of(lane), op, width, at, operand, compare, old, of(ended)));
}
heddle_status heddle_try_compare_swap(heddle_lane* lane, unsigned width, heddle_address at,
                                      uint64_t expected, uint64_t desired, void* old,
                                      heddle_completion ended) {
  return heddle_try_atomic(lane, HEDDLE_COMPARE_SWAP, width, at, desired, expected, old, ended);
}
heddle_status heddle_try_put_signal(heddle_lane* lane, const void* from, size_t bytes,
                                    heddle_address to, heddle_atomic_op how, heddle_address word,
                                    uint64_t value, heddle_completion ended) {
  return of(of(lane).try_put_signal(bytes_of(from, bytes), of(to), signal_op(how), {of(word)},
                                    value, of(ended)));
}
heddle_status heddle_try_send(heddle_lane* lane, heddle_rank to, int to_lane, heddle_tag tag,
                              const void* data, size_t bytes, heddle_completion ended) {
  return of(of(lane).try_send(destination(to, to_lane), tag, bytes_of(data, bytes), of(ended)));
}
heddle_status heddle_try_recv(heddle_lane* lane, heddle_rank from, heddle_tag tag, uint64_t mask,
                              void* into, size_t bytes, heddle_completion ended) {
  return of(of(lane).try_recv(from, tag_match(tag, mask), bytes_of(into, bytes), of(ended)));
}
heddle_status heddle_try_probe(heddle_lane* lane, heddle_rank from, heddle_tag tag, uint64_t mask,
                               heddle_outcome* out) {
  heddle::outcome found;
  const status s = of(lane).try_probe(from, tag_match(tag, mask), found);
  if (s == status::done) *out = of(found);
  return of(s);
}
heddle_status heddle_try_cancel(heddle_lane* lane, heddle_completion which) {
  return of(of(lane).try_cancel(of(which)));
}
heddle_status heddle_try_call(heddle_lane* lane, heddle_rank to, int to_lane, uint16_t handler,
                              const void* header, size_t header_bytes, const void* payload,
                              size_t payload_bytes, heddle_completion ended) {
  return of(of(lane).try_call(destination(to, to_lane), handler, bytes_of(header, header_bytes),
                              bytes_of(payload, payload_bytes), of(ended)));
}

// --- waiting ------------------------------------------------------------------------------------

heddle_status heddle_put(heddle_lane* lane, const void* from, size_t bytes, heddle_address to) {
  return of(of(lane).put(bytes_of(from, bytes), of(to)));
}
heddle_status heddle_get(heddle_lane* lane, void* into, size_t bytes, heddle_address from) {
  return of(of(lane).get(bytes_of(into, bytes), of(from)));
}
heddle_status heddle_put_notify(heddle_lane* lane, const void* from, size_t bytes,
                                heddle_address to, uint16_t handler, uint64_t value) {
  return of(of(lane).put_notify(bytes_of(from, bytes), of(to), handler, value));
}
heddle_status heddle_put_signal(heddle_lane* lane, const void* from, size_t bytes,
                                heddle_address to, heddle_atomic_op how, heddle_address word,
                                uint64_t value) {
  return of(of(lane).put_signal(bytes_of(from, bytes), of(to), signal_op(how), {of(word)}, value));
}
heddle_status heddle_atomic(heddle_lane* lane, heddle_atomic_op op, unsigned width,
                            heddle_address at, uint64_t operand, uint64_t compare, void* old) {
  heddle::lane& on = of(lane);
  return of(heddle::detail::outcome_of(on, [&](const completion& c) {
              return atomic(on, op, width, at, operand, compare, old, c);
            }).code);
}
heddle_status heddle_compare_swap(heddle_lane* lane, unsigned width, heddle_address at,
                                  uint64_t expected, uint64_t desired, void* old) {
  return heddle_atomic(lane, HEDDLE_COMPARE_SWAP, width, at, desired, expected, old);
}
heddle_status heddle_send(heddle_lane* lane, heddle_rank to, int to_lane, heddle_tag tag,
                          const void* data, size_t bytes) {
  return of(of(lane).send(destination(to, to_lane), tag, bytes_of(data, bytes)));
}
heddle_outcome heddle_recv(heddle_lane* lane, heddle_rank from, heddle_tag tag, uint64_t mask,
                           void* into, size_t bytes) {
  return of(of(lane).recv(from, tag_match(tag, mask), bytes_of(into, bytes)));
}
heddle_outcome heddle_recv_for(heddle_lane* lane, heddle_rank from, heddle_tag tag, uint64_t mask,
                               void* into, size_t bytes, int64_t limit_ns) {
  return of(
      of(lane).recv_for(from, tag_match(tag, mask), bytes_of(into, bytes), nanoseconds(limit_ns)));
}
heddle_status heddle_call(heddle_lane* lane, heddle_rank to, int to_lane, uint16_t handler,
                          const void* header, size_t header_bytes, const void* payload,
                          size_t payload_bytes) {
  return of(of(lane).call(destination(to, to_lane), handler, bytes_of(header, header_bytes),
                          bytes_of(payload, payload_bytes)));
}

size_t heddle_poll(heddle_lane* lane) {
  return of(lane).poll();
}
bool heddle_wait_until(heddle_lane* lane, const void* word, unsigned width,
                       bool (*true_of)(void* context, uint64_t value), void* context,
                       int64_t limit_ns) {
  const nanoseconds limit(limit_ns);
  switch (width) {
    case 1:
      return wait_until<std::uint8_t>(of(lane), word, true_of, context, limit);
    case 2:
      return wait_until<std::uint16_t>(of(lane), word, true_of, context, limit);
    case 4:
      return wait_until<std::uint32_t>(of(lane), word, true_of, context, limit);
    case 8:
      return wait_until<std::uint64_t>(of(lane), word, true_of, context, limit);
    default:
      return false;
  }
}
void heddle_when_ready(heddle_lane* lane, heddle_completion ready) {
  of(lane).when_ready(of(ready));
}
heddle_status heddle_try_flush(heddle_lane* lane, heddle_rank peer, heddle_completion ended) {
  return of(of(lane).try_flush(peer, of(ended)));
}
heddle_status heddle_try_fence(heddle_lane* lane, heddle_rank peer, heddle_completion ended) {
  return of(of(lane).try_fence(peer, of(ended)));
}
heddle_status heddle_flush(heddle_lane* lane, heddle_rank peer) {
  return of(of(lane).flush(peer));
}
heddle_status heddle_fence(heddle_lane* lane, heddle_rank peer) {
  return of(of(lane).fence(peer));
}
heddle_status heddle_flush_for(heddle_lane* lane, heddle_rank peer, int64_t limit_ns) {
  return of(of(lane).flush_for(peer, nanoseconds(limit_ns)));
}
heddle_status heddle_fence_for(heddle_lane* lane, heddle_rank peer, int64_t limit_ns) {
  return of(of(lane).fence_for(peer, nanoseconds(limit_ns)));
}
// NOLINTEND(readability-function-size)
