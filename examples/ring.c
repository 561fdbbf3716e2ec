/* SPDX-License-Identifier: BSD-3-Clause */
/* ring.c - in C: each rank puts a number into the next one's memory, and waits for one of its own.
 *
 *   heddle run -n 4 -- ./ring
 */
#include <heddle/c.h>
#include <stdio.h>

static bool has_come(void* context, uint64_t value) {
  (void)context;
  return value != 0;
}

int main(void) {
  heddle_world* world = heddle_world_open(NULL); /* joins the job */
  if (world == NULL) {
    fprintf(stderr, "cannot join: %s\n", heddle_error());
    return 1;
  }
  heddle_lane* lane = heddle_lane_open(world, NULL); /* a path to all peers */
  heddle_symmetric* box = heddle_symmetric_open(world, sizeof(uint64_t), HEDDLE_ALL_RIGHTS);
  if (lane == NULL || box == NULL) {
    fprintf(stderr, "cannot begin: %s\n", heddle_error());
    return 1;
  }
  const heddle_rank me = heddle_world_rank(world);
  const int ranks = heddle_world_size(world);
  const uint64_t* mine = heddle_symmetric_local(box);

  const uint64_t number = 100 + (uint64_t)me;
  const heddle_address there = heddle_symmetric_at(box, (me + 1) % ranks, 0);
  heddle_status s = heddle_put(lane, &number, sizeof number, there);
  if (s != HEDDLE_DONE) {
    fprintf(stderr, "rank %d: put: %s\n", (int)me, heddle_status_name(s));
    return 1;
  }
  if (!heddle_wait_until(lane, mine, sizeof *mine, has_come, NULL, HEDDLE_FOR_EVER)) return 1;
  printf("rank %d was told %d\n", (int)me, (int)*mine);
  const bool right = *mine == 100 + (uint64_t)((me + ranks - 1) % ranks);

  if (heddle_barrier(lane) != HEDDLE_DONE) return 1; /* nobody needs this rank's memory any more */
  heddle_symmetric_close(box);
  heddle_lane_close(lane);
  heddle_world_close(world);
  return right ? 0 : 1;
}
