/* SPDX-License-Identifier: BSD-3-Clause */
/* placing.c - of everything.c: calls whose handler chooses where the payload goes. */
#include <stdatomic.h>
#include <string.h>

#include "everything.h"

enum { placing_handler = 6, large_bytes = 300000 };

struct place {
  char bytes[large_bytes];
  heddle_flag* filled;
  heddle_matched* kept; /* the payload of the call with the header "later" */
  atomic_int left;
};

static void place(void* context, heddle_lane* here, const heddle_arriving_call* call) {
  struct place* mine = context;
  EXPECT(call->source == before && call->lane == heddle_lane_number(here));
  EXPECT(call->header_bytes == 6);
  if (strcmp(call->header, "later") == 0) {
    heddle_matched_move(mine->kept, call->payload);
    atomic_store(&mine->left, 1);
  } else {
    EXPECT(heddle_try_recv_matched(here, call->payload, mine->bytes, large_bytes,
                                   heddle_flag_completion(mine->filled)) == HEDDLE_POSTED);
  }
}

void placed_calls(void) {
  static struct place mine;
  static char payload[large_bytes];
  memset(payload, me + 1, large_bytes);
  mine.filled = heddle_flag_new();
  mine.kept = heddle_matched_new();
  EXPECT(heddle_world_set_header_handler(world, placing_handler, place, &mine) == 0);
  EXPECT(heddle_world_set_header_handler(world, HEDDLE_MAX_HANDLERS, place, &mine) == -1);
  const int named = heddle_world_add_header_handler(world, "placing", place, &mine);
  EXPECT(named >= 0 && heddle_world_handler(world, "placing") == named);
  EXPECT(heddle_world_barrier(world) == 0);
  EXPECT(heddle_call(lane, next, HEDDLE_SAME_LANE, placing_handler, "place", 6, payload,
                     large_bytes) == HEDDLE_DONE);
  EXPECT(heddle_wait_flag(lane, mine.filled) == HEDDLE_DONE);
  EXPECT(mine.bytes[0] == before + 1 && mine.bytes[large_bytes - 1] == before + 1);
  EXPECT(heddle_call(lane, next, HEDDLE_SAME_LANE, (uint16_t)named, "later", 6, payload, 3) ==
         HEDDLE_DONE);
  while (atomic_load(&mine.left) == 0) (void)heddle_poll(lane);
  EXPECT(heddle_recv_matched(lane, mine.kept, mine.bytes, large_bytes).bytes == 3);
  EXPECT(heddle_world_barrier(world) == 0);
  heddle_matched_free(mine.kept);
  heddle_flag_free(mine.filled);
}
