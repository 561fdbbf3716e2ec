/* SPDX-License-Identifier: BSD-3-Clause */
/* blocks.c - of everything.c: many blocks at once, in puts, gets and messages. */
#include <stdatomic.h>
#include <string.h>

#include "everything.h"

enum { words = 64, side = 4, handler = 6 };

static heddle_symmetric* array;
static heddle_flag* over;

static heddle_completion told(void) {
  return heddle_flag_completion(over);
}
static heddle_address at(heddle_rank peer, size_t word) {
  return heddle_symmetric_at(array, peer, 8 * word);
}
static void fill(uint64_t* numbers, size_t first) {
  for (size_t i = 0; i < side; ++i) numbers[i] = number(me, first + i);
}

/* --- lists and grids -------------------------------------------------------------------------- */

/* Two words to 5, and two to 1, of every rank. */
static void lists(void) {
  const uint64_t* mine = heddle_symmetric_local(array);
  uint64_t out[side], back[side] = {0};
  const heddle_put_block puts[2] = {{out, 16, at(next, 5)}, {out + 2, 16, at(next, 1)}};
  const heddle_get_block gets[2] = {{back + 2, 16, at(next, 1)}, {back, 16, at(next, 5)}};
  fill(out, 1);
  EXPECT(heddle_put_blocks(lane, puts, 2) == HEDDLE_DONE);
  EXPECT(heddle_get_blocks(lane, gets, 2) == HEDDLE_DONE);
  EXPECT(memcmp(out, back, sizeof out) == 0);
  EXPECT(heddle_barrier(lane) == HEDDLE_DONE);
  EXPECT(mine[5] == number(before, 1) && mine[6] == number(before, 2));
  EXPECT(mine[1] == number(before, 3) && mine[2] == number(before, 4));
  EXPECT(heddle_barrier(lane) == HEDDLE_DONE);
  fill(out, 11);
  EXPECT(end_of(over, heddle_try_put_blocks(lane, puts, 2, told())) == HEDDLE_DONE);
  EXPECT(end_of(over, heddle_try_get_blocks(lane, gets, 2, told())) == HEDDLE_DONE);
  EXPECT(memcmp(out, back, sizeof out) == 0);
  const heddle_put_block beyond = {out, 16, at(next, words - 1)};
  EXPECT(heddle_put_blocks(lane, &beyond, 1) == HEDDLE_OUT_OF_BOUNDS);
  EXPECT(heddle_put_blocks(lane, NULL, 0) == HEDDLE_DONE);
}

/* Columns of a matrix of every rank, which are words behind each other here. */
static void grids(void) {
  const uint64_t* mine = heddle_symmetric_local(array);
  const heddle_stride rows[9] = {{.count = side, .here = 8, .there = 8 * side}};
  uint64_t out[side], back[side] = {0};
  fill(out, 21);
  EXPECT(heddle_put_grid(lane, out, 8, at(next, 8), rows, 1) == HEDDLE_DONE);
  EXPECT(heddle_get_grid(lane, back, 8, at(next, 8), rows, 1) == HEDDLE_DONE);
  EXPECT(memcmp(out, back, sizeof out) == 0);
  fill(out, 31);
  EXPECT(end_of(over, heddle_try_put_grid(lane, out, 8, at(next, 9), rows, 1, told())) ==
         HEDDLE_DONE);
  EXPECT(end_of(over, heddle_try_get_grid(lane, back, 8, at(next, 9), rows, 1, told())) ==
         HEDDLE_DONE);
  EXPECT(memcmp(out, back, sizeof out) == 0);
  EXPECT(heddle_barrier(lane) == HEDDLE_DONE);
  for (size_t i = 0; i < side; ++i)
    EXPECT(mine[8 + side * i] == number(before, 21 + i) &&
           mine[9 + side * i] == number(before, 31 + i));
  EXPECT(heddle_put_grid(lane, out, 8, at(next, 8), rows, 9) == HEDDLE_INVALID);
}

/* --- messages --------------------------------------------------------------------------------- */

static atomic_int calls;

static void hear_blocks(void* context, heddle_lane* here, const heddle_message* m) {
  (void)context, (void)here;
  EXPECT(m->source == before && m->header_bytes == 2 && memcmp(m->header, "to", 2) == 0);
  EXPECT(m->payload_bytes == 8 && memcmp(m->payload, "abcdefg", 8) == 0);
  atomic_fetch_add(&calls, 1);
}

/* In three blocks out, in two in. */
static void messages_of_blocks(void) {
  const heddle_send_block out[3] = {{"abc", 3}, {NULL, 0}, {"defg", 5}};
  char first[2] = "", rest[6] = "";
  const heddle_recv_block in[2] = {{first, sizeof first}, {rest, sizeof rest}};
  EXPECT(heddle_recv_blocks_for(lane, before, 41, HEDDLE_EXACT_TAG, in, 2, 1000).code ==
         HEDDLE_TIMED_OUT);
  EXPECT(heddle_world_barrier(world) == 0);
  EXPECT(heddle_send_blocks(lane, next, HEDDLE_SAME_LANE, 41, out, 3) == HEDDLE_DONE);
  EXPECT(heddle_recv_blocks_for(lane, before, 41, HEDDLE_EXACT_TAG, in, 2, HEDDLE_FOR_EVER).bytes ==
         8);
  EXPECT(memcmp(first, "ab", 2) == 0 && memcmp(rest, "cdefg", 6) == 0);
  EXPECT(heddle_send_blocks(lane, next, HEDDLE_SAME_LANE, 42, out, 3) == HEDDLE_DONE);
  EXPECT(heddle_recv_blocks(lane, before, 42, HEDDLE_EXACT_TAG, in, 1).code == HEDDLE_TRUNCATED);
  memset(rest, 0, sizeof rest);
  const heddle_status receiving =
      heddle_try_recv_blocks(lane, before, 43, HEDDLE_EXACT_TAG, in, 2, told());
  heddle_flag* sent = heddle_flag_new();
  EXPECT(end_of(sent, heddle_try_send_blocks(lane, next, HEDDLE_SAME_LANE, 43, out, 3,
                                             heddle_flag_completion(sent))) == HEDDLE_DONE);
  heddle_flag_free(sent);
  EXPECT(receiving == HEDDLE_POSTED && end_of(over, receiving) == HEDDLE_DONE);
  EXPECT(memcmp(rest, "cdefg", 6) == 0);

  EXPECT(heddle_call_blocks(lane, next, HEDDLE_SAME_LANE, handler, "to", 2, out, 3) == HEDDLE_DONE);
  EXPECT(end_of(over, heddle_try_call_blocks(lane, next, HEDDLE_SAME_LANE, handler, "to", 2, out, 3,
                                             told())) == HEDDLE_DONE);
  while (atomic_load(&calls) < 2) heddle_poll(lane);
}

void blocks(void) {
  array = heddle_symmetric_open(world, 8 * words, HEDDLE_ALL_RIGHTS);
  over = heddle_flag_new();
  EXPECT(heddle_world_set_handler(world, handler, hear_blocks, NULL) == 0);
  lists();
  grids();
  messages_of_blocks();
  EXPECT(heddle_world_barrier(world) == 0);
  heddle_flag_free(over);
  heddle_symmetric_close(array);
}
