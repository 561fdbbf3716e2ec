/* SPDX-License-Identifier: BSD-3-Clause */
/* shared_memory.c - a job in C whose ranks expose memory that they have, and use each other's that
 * is mapped; says where something is wrong. Ends with 0 where all is right. */
#include <heddle/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wrong = 0;
#define EXPECT(what)                                                     \
  do {                                                                   \
    if (!(what)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what); \
      wrong = 1;                                                         \
    }                                                                    \
  } while (0)

static heddle_world* world;
static heddle_lane* lane;
static heddle_rank me, next, before;
static int ranks;

static uint64_t number(heddle_rank r, size_t i) {
  return (uint64_t)r * 1000003U + i * 7919U;
}

static void exposed_together(void) {
  uint64_t own[8] = {number(me, 7)};
  const size_t mine = 8 * ((size_t)me % 8 + 1), theirs = 8 * ((size_t)next % 8 + 1);
  heddle_symmetric* array = heddle_expose_symmetric(world, own, mine, HEDDLE_ALL_RIGHTS);
  EXPECT(array != NULL && heddle_symmetric_local(array) == own);
  EXPECT(heddle_symmetric_bytes(array, next) == theirs);
  EXPECT(heddle_symmetric_bytes(array, ranks) == 0);
  EXPECT(heddle_symmetric_mapped_memory(array, me) == own);
  EXPECT(ranks == 1 || heddle_symmetric_mapped_memory(array, next) == NULL);
  uint64_t got = 0;
  EXPECT(heddle_get(lane, &got, 8, heddle_symmetric_at(array, next, 0)) == HEDDLE_DONE);
  EXPECT(got == number(next, 7));
  EXPECT(heddle_put(lane, &got, 8, heddle_symmetric_at(array, next, theirs)) ==
         HEDDLE_OUT_OF_BOUNDS);
  EXPECT(heddle_world_barrier(world) == 0);
  heddle_symmetric_close(array);
}

static void refused_together(void) {
  uint64_t own = 0;
  void* const given = me == ranks - 1 ? NULL : &own;
  EXPECT(heddle_expose_symmetric(world, given, sizeof own, HEDDLE_READ) == NULL);
  EXPECT(strstr(heddle_error(), "refuses: null was given for 8 bytes") != NULL);
}

static void mapped_memory(void) {
  heddle_symmetric* array = heddle_symmetric_open(world, 64, HEDDLE_ALL_RIGHTS);
  heddle_region* region = heddle_allocate(world, 64, HEDDLE_READ);
  EXPECT(array != NULL && region != NULL);
  *(uint64_t*)heddle_region_memory(region) = number(me, 5);
  heddle_key mine = heddle_region_key(region), *all = calloc((size_t)ranks, sizeof mine);
  EXPECT(heddle_allgather(lane, &mine, all, sizeof mine) == HEDDLE_DONE);
  heddle_remote* remote = heddle_import(world, &all[next]);
  EXPECT(remote != NULL && heddle_remote_rights(remote) == HEDDLE_READ);
  uint64_t* there = heddle_symmetric_mapped_memory(array, next);
  const uint64_t* region_there = heddle_remote_mapped_memory(remote);
  EXPECT((region_there != NULL) == heddle_remote_mapped(remote));
  EXPECT(ranks == 1 || (there != NULL) == heddle_remote_mapped(remote));
  if (there != NULL) there[3] = number(me, 6);
  EXPECT(heddle_barrier(lane) == HEDDLE_DONE);
  if (there != NULL) EXPECT(((uint64_t*)heddle_symmetric_local(array))[3] == number(before, 6));
  if (region_there != NULL) EXPECT(region_there[0] == number(next, 5));
  EXPECT(heddle_world_barrier(world) == 0);
  heddle_remote_close(remote);
  heddle_region_close(region);
  heddle_symmetric_close(array);
  free(all);
}

int main(void) {
  world = heddle_world_open(NULL);
  if (world == NULL) {
    fprintf(stderr, "no world: %s\n", heddle_error());
    return 1;
  }
  lane = heddle_lane_open(world, NULL);
  me = heddle_world_rank(world);
  ranks = heddle_world_size(world);
  next = (me + 1) % ranks;
  before = (me + ranks - 1) % ranks;
  exposed_together();
  refused_together();
  mapped_memory();
  EXPECT(heddle_world_barrier(world) == 0);
  heddle_lane_close(lane);
  heddle_world_close(world);
  return wrong;
}
