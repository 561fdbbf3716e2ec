/* SPDX-License-Identifier: BSD-3-Clause */
/* messages.c - of everything.c: tagged messages. */
#include <string.h>

#include "everything.h"

/* A message of unknown size, found, waited for and dropped. */
static void matched_messages(void) {
  char data[100], into[100];
  memset(data, 7, sizeof data);
  heddle_matched* m = heddle_matched_new();
  EXPECT(!heddle_matched_holds(m) && heddle_recv_matched(lane, m, into, 1).code == HEDDLE_INVALID);
  for (size_t i = 1; i <= 4; ++i)
    EXPECT(heddle_send(lane, next, HEDDLE_SAME_LANE, 31, data, i) == HEDDLE_DONE);
  const heddle_outcome come = heddle_match(lane, before, 31, HEDDLE_EXACT_TAG, m);
  EXPECT(come.code == HEDDLE_DONE && come.bytes == 1 && heddle_matched_holds(m));
  EXPECT(heddle_matched_what(m).peer == before && heddle_matched_what(m).tag == 31);
  EXPECT(heddle_recv_matched(lane, m, into, sizeof into).bytes == 1 && into[0] == 7);
  heddle_status s = HEDDLE_NOT_FOUND;
  while (s != HEDDLE_DONE) {
    s = heddle_try_probe_matched(lane, HEDDLE_ANY_SOURCE, 31, HEDDLE_EXACT_TAG, m);
    (void)heddle_poll(lane);
  }
  EXPECT(heddle_matched_what(m).bytes == 2);
  heddle_flag* over = heddle_flag_new();
  EXPECT(heddle_try_recv_matched(lane, m, into, sizeof into, heddle_flag_completion(over)) ==
         HEDDLE_POSTED);
  EXPECT(heddle_wait_flag(lane, over) == HEDDLE_DONE && !heddle_matched_holds(m));
  heddle_flag_reset(over);
  EXPECT(heddle_try_match(lane, before, 31, HEDDLE_EXACT_TAG, m, heddle_flag_completion(over)) ==
         HEDDLE_POSTED);
  EXPECT(heddle_wait_flag(lane, over) == HEDDLE_DONE && heddle_flag_result(over).bytes == 3);
  heddle_matched_drop(m);
  EXPECT(heddle_match(lane, before, 31, HEDDLE_EXACT_TAG, m).bytes == 4);
  heddle_matched_free(m);
  heddle_matched_free(NULL);
  heddle_flag_free(over);
}

void messages(void) {
  enum { items = 1000 };
  static uint64_t out[items], in[items];
  for (size_t i = 0; i < items; ++i) out[i] = number(me, i);
  heddle_flag* came = heddle_flag_new();
  heddle_status s;
  do {
    s = heddle_try_recv(lane, HEDDLE_ANY_SOURCE, 0, HEDDLE_ANY_TAG, in, sizeof in,
                        heddle_flag_completion(came));
  } while (heddle_is_busy(s));
  EXPECT(s == HEDDLE_POSTED);
  EXPECT(heddle_send(lane, next, HEDDLE_SAME_LANE, 77, out, sizeof out) == HEDDLE_DONE);
  EXPECT(heddle_wait_flag(lane, came) == HEDDLE_DONE);
  EXPECT(heddle_flag_ready(came));
  const heddle_outcome o = heddle_flag_result(came);
  EXPECT(o.code == HEDDLE_DONE && o.peer == before && o.tag == 77 && o.bytes == sizeof in);
  EXPECT(o.lane == heddle_lane_number(lane));
  for (size_t i = 0; i < items; ++i) EXPECT(in[i] == number(before, i));

  /* Taken back. */
  heddle_flag_reset(came);
  do {
    s = heddle_try_recv(lane, next, 78, HEDDLE_EXACT_TAG, in, 8, heddle_flag_completion(came));
  } while (heddle_is_busy(s));
  do {
    s = heddle_try_cancel(lane, heddle_flag_completion(came));
  } while (heddle_is_busy(s));
  EXPECT(s == HEDDLE_DONE);
  EXPECT(heddle_wait_flag(lane, came) == HEDDLE_CANCELED);
  heddle_flag_reset(came);

  heddle_outcome found;
  do {
    s = heddle_try_probe(lane, before, 79, HEDDLE_EXACT_TAG, &found);
  } while (heddle_is_busy(s));
  EXPECT(s == HEDDLE_NOT_FOUND);
  EXPECT(end_of(came, heddle_try_send(lane, next, HEDDLE_SAME_LANE, 80, out, 24,
                                      heddle_flag_completion(came))) == HEDDLE_DONE);
  heddle_flag_free(came);
  EXPECT(heddle_recv(lane, before, 80, HEDDLE_EXACT_TAG, in, 16).code == HEDDLE_TRUNCATED);
  matched_messages();
}
