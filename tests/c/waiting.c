/* SPDX-License-Identifier: BSD-3-Clause */
/* waiting.c - of everything.c: how the ends of operations are told, their order, and limits. */
#include <poll.h>
#include <string.h>

#include "everything.h"

heddle_status end_of(heddle_flag* flag, heddle_status answer) {
  if (answer != HEDDLE_POSTED) return answer;
  const heddle_status ended = heddle_wait_flag(lane, flag);
  heddle_flag_reset(flag);
  return ended;
}

/* --- endings ---------------------------------------------------------------------------------- */

void endings(void) {
  heddle_symmetric* array = heddle_symmetric_open(world, 800, HEDDLE_ALL_RIGHTS);
  heddle_counter* counter = heddle_counter_new();
  const uint64_t value = 5;
  for (uint64_t i = 0; i < 100; ++i)
    while (heddle_is_busy(heddle_counter_track(
        counter, heddle_try_put(lane, &value, 8, heddle_symmetric_at(array, next, 8 * i),
                                heddle_counter_completion(counter)))))
      heddle_poll(lane);
  EXPECT(heddle_wait_counter(lane, counter, 100) == HEDDLE_DONE);
  EXPECT(heddle_counter_count(counter) == 100);
  EXPECT(!heddle_wait_counter_for(lane, counter, 101, 1000000));
  EXPECT(heddle_counter_first_failure(counter) == HEDDLE_DONE);
  heddle_counter_reset(counter);
  EXPECT(heddle_counter_count(counter) == 0);

  heddle_queue* queue = heddle_queue_new(4);
  uint64_t cookie = 0, posted = 0;
  heddle_outcome what;
  EXPECT(!heddle_queue_pop(queue, &cookie, &what));
  uint64_t in[3];
  for (uint64_t i = 0; i < 3; ++i) {
    heddle_status s;
    do {
      s = heddle_try_recv(lane, before, 100 + i, HEDDLE_EXACT_TAG, &in[i], 8,
                          heddle_queue_completion(queue, i));
    } while (heddle_is_busy(s));
    posted += s == HEDDLE_POSTED;
    EXPECT(heddle_send(lane, next, HEDDLE_SAME_LANE, 100 + i, &value, 8) == HEDDLE_DONE);
  }
  heddle_wait_queue(lane, queue, posted);
  EXPECT(heddle_queue_delivered(queue) == 3);
  unsigned seen = 0;
  while (heddle_queue_pop(queue, &cookie, &what)) {
    EXPECT(what.code == HEDDLE_DONE && what.tag == 100 + cookie);
    seen |= 1U << cookie;
  }
  EXPECT(seen == 7);

  heddle_descriptor* bell = heddle_descriptor_open();
  heddle_when_ready(lane, heddle_descriptor_completion(bell));
  struct pollfd watched = {.fd = heddle_descriptor_fd(bell), .events = POLLIN};
  EXPECT(poll(&watched, 1, 60000) == 1);
  EXPECT(heddle_descriptor_take(bell) == 1);
  EXPECT(heddle_descriptor_first_failure(bell) == HEDDLE_DONE);
  EXPECT(heddle_world_barrier(world) == 0);
  heddle_descriptor_close(bell);
  heddle_queue_free(queue);
  heddle_counter_free(counter);
  heddle_symmetric_close(array);
}

/* --- order, and limits ------------------------------------------------------------------------ */

static heddle_status flush_it(heddle_completion c) {
  return heddle_try_flush(lane, next, c);
}
static heddle_status flush_all(heddle_completion c) {
  return heddle_try_flush(lane, HEDDLE_EVERYBODY, c);
}
static heddle_status fence_it(heddle_completion c) {
  return heddle_try_fence(lane, next, c);
}

void order(void) {
  heddle_status (*const forms[])(heddle_completion) = {flush_it, flush_all, fence_it};
  heddle_symmetric* array = heddle_symmetric_open(world, 8, HEDDLE_ALL_RIGHTS);
  heddle_counter* counter = heddle_counter_new();
  for (uint64_t i = 0; i < 3; ++i) {
    EXPECT(heddle_put(lane, &i, 8, heddle_symmetric_at(array, next, 0)) == HEDDLE_DONE);
    while (
        heddle_is_busy(heddle_counter_track(counter, forms[i](heddle_counter_completion(counter)))))
      heddle_poll(lane);
    EXPECT(heddle_wait_counter(lane, counter, i + 1) == HEDDLE_DONE);
  }
  heddle_counter_free(counter);
  EXPECT(heddle_flush_for(lane, HEDDLE_EVERYBODY, 0) == HEDDLE_DONE);
  EXPECT(heddle_fence_for(lane, next, HEDDLE_FOR_EVER) == HEDDLE_DONE);
  EXPECT(heddle_try_flush(lane, ranks, heddle_ignore()) != HEDDLE_DONE);
  EXPECT(heddle_world_barrier(world) == 0);
  heddle_symmetric_close(array);
}

void limits(void) {
  char into[8] = "";
  heddle_queue* queue = heddle_queue_new(1);
  heddle_matched* m = heddle_matched_new();
  EXPECT(heddle_recv_for(lane, before, 85, HEDDLE_EXACT_TAG, into, 8, 1000).code ==
         HEDDLE_TIMED_OUT);
  EXPECT(heddle_match_for(lane, before, 85, HEDDLE_EXACT_TAG, m, 1000).code == HEDDLE_TIMED_OUT);
  EXPECT(!heddle_wait_queue_for(lane, queue, 1, 1000));
  EXPECT(heddle_world_barrier(world) == 0);
  EXPECT(heddle_send(lane, next, HEDDLE_SAME_LANE, 85, "first", 6) == HEDDLE_DONE);
  EXPECT(heddle_send(lane, next, HEDDLE_SAME_LANE, 85, "other", 6) == HEDDLE_DONE);
  EXPECT(heddle_recv_for(lane, before, 85, HEDDLE_EXACT_TAG, into, 8, HEDDLE_FOR_EVER).bytes == 6);
  EXPECT(strcmp(into, "first") == 0);
  EXPECT(heddle_match_for(lane, before, 85, HEDDLE_EXACT_TAG, m, HEDDLE_FOR_EVER).bytes == 6);
  heddle_status s;
  do {
    s = heddle_try_recv_matched(lane, m, into, 8, heddle_queue_completion(queue, 1));
  } while (heddle_is_busy(s));
  EXPECT(s == HEDDLE_POSTED && heddle_wait_queue_for(lane, queue, 1, HEDDLE_FOR_EVER));
  EXPECT(strcmp(into, "other") == 0);
  heddle_matched_free(m);
  heddle_queue_free(queue);
}
