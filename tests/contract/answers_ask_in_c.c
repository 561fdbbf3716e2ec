/* SPDX-License-Identifier: BSD-3-Clause */
#include "contract/answers_ask_in_c.h"

enum { limit_ns = 1000000, items = 4 }; /* of a collective's block, each of 8 bytes */

/* NAME, and what both forms call with what they have before the completion. */
#define BOTH(name, function, ...)                                                     \
  heddle_status post_##name(const struct question_in_c* q, heddle_completion ended) { \
    return heddle_try_##function(q->on, __VA_ARGS__, ended);                          \
  }
#define WAITING(name, function, ...)                         \
  heddle_status wait_##name(const struct question_in_c* q) { \
    return heddle_##function(q->on, __VA_ARGS__);            \
  }

BOTH(put, put, q->from, q->bytes, q->at)
WAITING(put, put, q->from, q->bytes, q->at)
BOTH(get, get, q->into, q->bytes, q->at)
WAITING(get, get, q->into, q->bytes, q->at)
BOTH(put_notify, put_notify, q->from, q->bytes, q->at, q->handler, 5)
WAITING(put_notify, put_notify, q->from, q->bytes, q->at, q->handler, 5)
BOTH(put_signal, put_signal, q->from, q->bytes, q->at, HEDDLE_ADD, q->at, 5)
WAITING(put_signal, put_signal, q->from, q->bytes, q->at, HEDDLE_SWAP, q->at, 5)
BOTH(fetch_add, atomic, HEDDLE_ADD, 8, q->at, 1, 0, q->into)
WAITING(fetch_add, atomic, HEDDLE_ADD, 8, q->at, 1, 0, q->into)
BOTH(compare_swap, compare_swap, 4, q->at, 1, 2, q->into)
WAITING(compare_swap, compare_swap, 4, q->at, 1, 2, q->into)
BOTH(add, atomic, HEDDLE_ADD, 8, q->at, 1, 0, NULL)
WAITING(add, atomic, HEDDLE_ADD, 8, q->at, 1, 0, NULL)

BOTH(send, send, q->peer, HEDDLE_SAME_LANE, q->tag, q->from, q->bytes)
WAITING(send, send, q->peer, HEDDLE_SAME_LANE, q->tag, q->from, q->bytes)
BOTH(recv, recv, q->peer, q->tag, q->mask, q->into, q->bytes)
heddle_status wait_recv(const struct question_in_c* q) {
  return (heddle_status)heddle_recv(q->on, q->peer, q->tag, q->mask, q->into, q->bytes).code;
}
BOTH(call, call, q->peer, HEDDLE_SAME_LANE, q->handler, q->from, q->header_bytes, q->from, q->bytes)
WAITING(call, call, q->peer, HEDDLE_SAME_LANE, q->handler, q->from, q->header_bytes, q->from,
        q->bytes)
heddle_status post_probe(const struct question_in_c* q, heddle_completion ended) {
  heddle_outcome found;
  (void)ended;
  return heddle_try_probe(q->on, q->peer, q->tag, q->mask, &found);
}
heddle_status post_cancel(const struct question_in_c* q, heddle_completion ended) {
  (void)ended;
  return heddle_try_cancel(q->on, q->which);
}
BOTH(flush, flush, q->peer)
WAITING(flush, flush, q->peer)
BOTH(fence, fence, q->peer)
WAITING(fence, fence, q->peer)
heddle_status wait_recv_for(const struct question_in_c* q) {
  return (heddle_status)heddle_recv_for(q->on, q->peer, q->tag, q->mask, q->into, q->bytes,
                                        limit_ns)
      .code;
}
heddle_status wait_match_for(const struct question_in_c* q) {
  heddle_matched* const none = heddle_matched_new();
  const heddle_outcome o = heddle_match_for(q->on, q->peer, q->tag, q->mask, none, limit_ns);
  heddle_matched_free(none);
  return (heddle_status)o.code;
}
WAITING(flush_for, flush_for, q->peer, limit_ns)

BOTH(broadcast, broadcast, q->into, items * 8, q->peer)
WAITING(broadcast, broadcast, q->into, items * 8, q->peer)
BOTH(reduce, reduce, q->from, q->into, items, HEDDLE_UINT64, HEDDLE_SUM, q->peer)
WAITING(reduce, reduce, q->from, q->into, items, HEDDLE_UINT64, HEDDLE_SUM, q->peer)
BOTH(allreduce, allreduce, q->from, q->into, items, HEDDLE_UINT64, HEDDLE_SUM)
WAITING(allreduce, allreduce, q->from, q->into, items, HEDDLE_UINT64, HEDDLE_SUM)
BOTH(gather, gather, q->from, q->into, items * 8, q->peer)
WAITING(gather, gather, q->from, q->into, items * 8, q->peer)
BOTH(allgather, allgather, q->from, q->into, items * 8)
WAITING(allgather, allgather, q->from, q->into, items * 8)
BOTH(alltoall, alltoall, q->from, q->into, items * 8)
WAITING(alltoall, alltoall, q->from, q->into, items * 8)
WAITING(allreduce_floats, allreduce, q->from, q->into, items, HEDDLE_DOUBLE, HEDDLE_BIT_AND)
