/* SPDX-License-Identifier: BSD-3-Clause */
/* collectives.c - of everything.c: operations of all ranks, and of groups. */
#include <string.h>

#include "everything.h"

enum { most = 16 }; /* ranks */
static int in[most * most], into[most * most];
static heddle_flag* over;

static heddle_completion told(void) {
  return heddle_flag_completion(over);
}

/* --- what is right ---------------------------------------------------------------------------- */

static heddle_group* group;
static int self, n;

static int below(int r) {
  return r * (r - 1) / 2;
}
/* `into` has each member's number. */
static bool is_row(void) {
  for (int r = 0; r < n; ++r)
    if (into[r] != r) return false;
  return true;
}
/* As often as it says. */
static bool is_packed(void) {
  for (int r = 0, at = 0; r < n; ++r)
    for (int i = 0; i < r; ++i)
      if (into[at++] != r) return false;
  return true;
}
/* What every member had for this one. */
static bool is_column(void) {
  for (int r = 0; r < n; ++r)
    if (into[r] != 100 * r + self) return false;
  return true;
}
/* The sums over `members` members from 0. */
static bool is_sum(int members) {
  for (int i = 0; i < n; ++i)
    if (into[i] != below(members) + members * i) return false;
  return true;
}

/* --- both forms, after each of which `right` is so -------------------------------------------- */

#define EXPECT_ONE(started, right)    \
  do {                                \
    memset(into, 0, sizeof into);     \
    EXPECT((started) == HEDDLE_DONE); \
    EXPECT(right);                    \
  } while (0)
#define EXPECT_BOTH(name, right, ...)                                                     \
  do {                                                                                    \
    EXPECT_ONE(heddle_group_##name(group, __VA_ARGS__), right);                           \
    EXPECT_ONE(end_of(over, heddle_group_try_##name(group, __VA_ARGS__, told())), right); \
  } while (0)

static void equal_blocks(void) {
  int word = self == 0 ? 42 : 0;
  EXPECT(heddle_group_broadcast(group, &word, sizeof word, 0) == HEDDLE_DONE && word == 42);
  if (self == 0) word = 43;
  EXPECT(end_of(over, heddle_group_try_broadcast(group, &word, sizeof word, 0, told())) ==
         HEDDLE_DONE);
  EXPECT(word == 43);
  in[0] = self;
  EXPECT_BOTH(gather, self != n - 1 || is_row(), in, into, sizeof *in, n - 1);
  EXPECT_BOTH(allgather, is_row(), in, into, sizeof *in);
  for (int r = 0; r < n; ++r) in[r] = 100 * self + r;
  EXPECT_BOTH(alltoall, is_column(), in, into, sizeof *in);
  EXPECT_BOTH(scatter, into[0] == self, in, into, sizeof *in, 0);
}

static void reductions(void) {
  const size_t items = (size_t)n;
  for (int i = 0; i < n; ++i) in[i] = self + i;
  EXPECT_BOTH(reduce, self != 0 || is_sum(n), in, into, items, HEDDLE_INT32, HEDDLE_SUM, 0);
  EXPECT_BOTH(allreduce, is_sum(n), in, into, items, HEDDLE_INT32, HEDDLE_SUM);
  EXPECT_BOTH(scan, is_sum(self + 1), in, into, items, HEDDLE_INT32, HEDDLE_SUM);
  EXPECT_BOTH(exclusive_scan, self == 0 ? into[0] == 0 : is_sum(self), in, into, items,
              HEDDLE_INT32, HEDDLE_SUM);
  EXPECT_BOTH(reduce_scatter, into[0] == below(n) + n * self, in, into, 1, HEDDLE_INT32,
              HEDDLE_SUM);
}

/* Member r has r of its own. */
static void parts(void) {
  size_t bytes[most], same[most];
  int packed[most * most], at = 0;
  for (int r = 0; r < n; ++r) bytes[r] = (size_t)r * sizeof(int);
  for (int r = 0; r < n; ++r) same[r] = bytes[self];
  for (int r = 0; r < n; ++r)
    for (int i = 0; i < r; ++i) packed[at++] = r;
  for (int i = 0; i < n * n; ++i) in[i] = self;
  EXPECT_BOTH(gatherv, self != n - 1 || is_packed(), in, bytes[self], into, bytes, n - 1);
  EXPECT_BOTH(allgatherv, is_packed(), in, bytes[self], into, bytes);
  EXPECT_BOTH(alltoallv, is_packed(), in, same, into, bytes);
  EXPECT_BOTH(scatterv, self == 0 || (into[0] == self && into[self - 1] == self), packed, bytes,
              into, bytes[self], 0);
}

static void without_counts(heddle_group* all) {
  EXPECT(heddle_group_gatherv(all, NULL, 0, NULL, NULL, me) == HEDDLE_INVALID);
  EXPECT(heddle_group_scatterv(all, NULL, NULL, NULL, 0, me) == HEDDLE_INVALID);
  EXPECT(heddle_group_allgatherv(all, NULL, 0, NULL, NULL) == HEDDLE_INVALID);
  EXPECT(heddle_group_alltoallv(all, NULL, NULL, NULL, NULL) == HEDDLE_INVALID);
}

/* --- an operation of one's own ---------------------------------------------------------------- */

typedef struct range {
  int low, high;
} range;

static void join(void* context, void* to, const void* from, size_t items) {
  range* a = to;
  const range* b = from;
  EXPECT(context == &over);
  for (size_t i = 0; i < items; ++i) {
    if (b[i].low < a[i].low) a[i].low = b[i].low;
    if (b[i].high > a[i].high) a[i].high = b[i].high;
  }
}
static bool is_joined(const range* all) {
  for (int i = 0; i < 3; ++i)
    if (all[i].low != 10 * i || all[i].high != 10 * i + ranks - 1) return false;
  return true;
}

static void own_operations(void) {
  range mine[3], all[4][3] = {{{0, 0}}};
  for (int i = 0; i < 3; ++i) mine[i] = (range){10 * i + me, 10 * i + me};
  const size_t each = sizeof *mine;
  EXPECT(heddle_reduce_by(lane, mine, all[0], 3, each, join, &over, 0) == HEDDLE_DONE);
  EXPECT(heddle_allreduce_by(lane, mine, all[1], 3, each, join, &over) == HEDDLE_DONE);
  EXPECT(heddle_group_reduce_by(group, mine, all[2], 3, each, join, &over, 0) == HEDDLE_DONE);
  EXPECT(heddle_group_allreduce_by(group, mine, all[3], 3, each, join, &over) == HEDDLE_DONE);
  EXPECT((me != 0 || is_joined(all[0])) && is_joined(all[1]));
  EXPECT((self != 0 || is_joined(all[2])) && is_joined(all[3]));
  EXPECT(heddle_allreduce_by(lane, mine, all[1], 3, 0, join, &over) == HEDDLE_INVALID);
  EXPECT(heddle_allreduce_by(lane, mine, all[1], 3, each, NULL, NULL) == HEDDLE_INVALID);
}

/* --- of all ranks ----------------------------------------------------------------------------- */

static void waited_for(void) {
  const double third = (me + 1) / 4.0;
  double sum = 0;
  EXPECT(heddle_allreduce(lane, &third, &sum, 1, HEDDLE_DOUBLE, HEDDLE_SUM) == HEDDLE_DONE);
  EXPECT(sum == ranks * (ranks + 1) / 8.0);
  const int8_t small[2] = {(int8_t)me, (int8_t)-me};
  int8_t least[2] = {0, 0};
  EXPECT(heddle_reduce(lane, small, least, 2, HEDDLE_INT8, HEDDLE_MIN, 0) == HEDDLE_DONE);
  EXPECT(me != 0 || (least[0] == 0 && least[1] == 1 - ranks));
  EXPECT(heddle_allreduce(lane, &third, &sum, 1, HEDDLE_DOUBLE, HEDDLE_BIT_OR) == HEDDLE_INVALID);
  EXPECT(heddle_allreduce(lane, &third, &sum, 1, (heddle_type)99, HEDDLE_SUM) == HEDDLE_INVALID);
  int told_by_0 = me == 0 ? 42 : 0;
  EXPECT(heddle_broadcast(lane, &told_by_0, sizeof told_by_0, 0) == HEDDLE_DONE && told_by_0 == 42);
  EXPECT_ONE(heddle_gather(lane, &me, into, sizeof me, n - 1), me != n - 1 || is_row());
  EXPECT_ONE(heddle_allgather(lane, &me, into, sizeof me), is_row());
  for (int r = 0; r < n; ++r) in[r] = 100 * me + r;
  EXPECT_ONE(heddle_alltoall(lane, in, into, sizeof *in), is_column());
}

static void started(void) {
  int word = me == 0 ? 42 : 0;
  EXPECT(end_of(over, heddle_try_broadcast(lane, &word, sizeof word, 0, told())) == HEDDLE_DONE);
  EXPECT(word == 42);
  EXPECT_ONE(end_of(over, heddle_try_gather(lane, &me, into, sizeof me, 0, told())),
             me != 0 || is_row());
  EXPECT_ONE(end_of(over, heddle_try_allgather(lane, &me, into, sizeof me, told())), is_row());
  EXPECT_ONE(end_of(over, heddle_try_alltoall(lane, in, into, sizeof *in, told())), is_column());
  for (int i = 0; i < n; ++i) in[i] = me + i;
  EXPECT_ONE(end_of(over, heddle_try_reduce(lane, in, into, (size_t)n, HEDDLE_INT32, HEDDLE_SUM, 0,
                                            told())),
             me != 0 || is_sum(n));
  EXPECT_ONE(end_of(over, heddle_try_allreduce(lane, in, into, (size_t)n, HEDDLE_INT32, HEDDLE_SUM,
                                               told())),
             is_sum(n));
  const heddle_status s = heddle_try_barrier(lane, told());
  EXPECT(s != HEDDLE_POSTED || heddle_wait_flag_for(lane, over, HEDDLE_FOR_EVER / 4));
}

void collectives(void) {
  EXPECT(ranks <= most);
  self = me, n = ranks;
  over = heddle_flag_new();
  waited_for();
  started();
  heddle_flag_free(over);
}

/* --- groups ----------------------------------------------------------------------------------- */

static void all_on(heddle_group* which) {
  group = which;
  self = heddle_group_self(group), n = heddle_group_ranks(group);
  EXPECT(heddle_group_barrier(group) == HEDDLE_DONE);
  EXPECT(end_of(over, heddle_group_try_barrier(group, told())) == HEDDLE_DONE);
  equal_blocks();
  reductions();
  parts();
}

static void of_nobody(void) {
  heddle_group* none = heddle_group_new();
  int one = 1, sum = 0;
  EXPECT(heddle_group_ranks(none) == 0 && heddle_group_self(none) == -1);
  EXPECT(heddle_group_barrier(none) == HEDDLE_INVALID);
  EXPECT(heddle_group_allreduce(none, &one, &sum, 1, HEDDLE_INT32, HEDDLE_SUM) == HEDDLE_INVALID);
  heddle_group_free(none);
}

/* Groups of `parent`'s members, who are all ranks: without rank 0, and those alive. */
static void made_of(heddle_group* parent) {
  heddle_group* made = heddle_group_new();
  EXPECT(heddle_survivors(parent, made) == HEDDLE_DONE && heddle_group_ranks(made) == ranks);
  EXPECT(end_of(over, heddle_try_survivors(parent, made, told())) == HEDDLE_DONE);
  EXPECT(heddle_group_ranks(made) == ranks && heddle_group_self(made) == heddle_group_self(parent));
  EXPECT(heddle_split(parent, me == 0 ? HEDDLE_NO_COLOR : 1, 0, made) == HEDDLE_DONE);
  EXPECT(heddle_group_ranks(made) == (me == 0 ? 0 : ranks - 1));
  EXPECT(me == 0 || heddle_group_barrier(made) == HEDDLE_DONE);
  EXPECT(end_of(over, heddle_try_split(parent, me % 2, me, made, told())) == HEDDLE_DONE);
  EXPECT(heddle_group_ranks(made) == (ranks + 1 - me % 2) / 2);
  EXPECT(heddle_group_self(made) == me / 2 && heddle_group_barrier(made) == HEDDLE_DONE);
  heddle_group_free(made);
}

void groups(void) {
  over = heddle_flag_new();
  heddle_group* all = heddle_group_of(lane);
  heddle_group* turned = heddle_group_new();
  EXPECT(heddle_group_ranks(all) == ranks && heddle_group_self(all) == me);
  EXPECT(heddle_split(all, 0, -me, turned) == HEDDLE_DONE);
  const int place = heddle_group_self(turned);
  EXPECT(place == ranks - 1 - me && heddle_group_world_rank(turned, place) == me);
  EXPECT(heddle_group_member(turned, me) == place && heddle_group_world_rank(turned, -1) == -1);
  all_on(all);
  all_on(turned);
  without_counts(all);
  own_operations();
  of_nobody();
  made_of(all);
  made_of(turned);
  heddle_group_free(all);
  heddle_group_free(turned);
  heddle_group_free(NULL);
  heddle_flag_free(over);
}
