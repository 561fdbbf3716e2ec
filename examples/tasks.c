/* SPDX-License-Identifier: BSD-3-Clause */
/* tasks.c - in C: what a runtime of tasks needs. Each rank gives tasks to all by active messages,
 * runs those that come to it and answers them. A counter tells when all have been taken over, and
 * the group of a host's ranks adds up what they did.
 *
 *   heddle run -n 4 -- ./tasks
 */
#include <heddle/c.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { run_handler = 1, answer_handler = 2, tasks_each = 50, numbers_each = 1000 };

typedef struct task {
  uint64_t from, to; /* the numbers to add up */
  heddle_rank source;
  int lane;
  atomic_bool is_here;
} task;

/* Handlers run on any thread, two at a time: they keep what comes, and leave the work to others. */
static struct {
  heddle_lane* lane;
  task* tasks; /* as many as will ever come */
  size_t expected, ran;
  atomic_size_t came, answers;
  atomic_uint_least64_t sum;
} runtime;

static void take_task(void* context, heddle_lane* here, const heddle_message* m) {
  (void)context, (void)here;
  task* t = &runtime.tasks[atomic_fetch_add(&runtime.came, 1)];
  memcpy(t, m->header, m->header_bytes);
  t->source = m->source;
  t->lane = m->lane;
  atomic_store(&t->is_here, true);
}

static void take_answer(void* context, heddle_lane* here, const heddle_message* m) {
  uint64_t sum = 0;
  (void)context, (void)here;
  memcpy(&sum, m->header, sizeof sum);
  atomic_fetch_add(&runtime.sum, sum);
  atomic_fetch_add(&runtime.answers, 1);
}

/* Runs a task that has come, or lets the lane go on. */
static void work(void) {
  task* t = &runtime.tasks[runtime.ran];
  if (runtime.ran == runtime.expected || !atomic_load(&t->is_here)) {
    heddle_poll(runtime.lane);
    return;
  }
  uint64_t sum = 0;
  for (uint64_t i = t->from; i < t->to; ++i) sum += i;
  ++runtime.ran;
  if (heddle_call(runtime.lane, t->source, t->lane, answer_handler, &sum, sizeof sum, NULL, 0) !=
      HEDDLE_DONE)
    exit(1);
}

/* Tasks for all ranks in turn; what they are made of stays here until the counter says so. */
static bool give_tasks(uint64_t (*made)[2], size_t count, int ranks) {
  heddle_counter* taken_over = heddle_counter_new();
  for (size_t i = 0; i < count; ++i) {
    made[i][0] = i * numbers_each, made[i][1] = (i + 1) * numbers_each;
    while (heddle_is_busy(heddle_counter_track(
        taken_over, heddle_try_call(runtime.lane, (heddle_rank)(i % (size_t)ranks),
                                    HEDDLE_SAME_LANE, run_handler, made[i], sizeof made[i], NULL, 0,
                                    heddle_counter_completion(taken_over)))))
      work();
  }
  while (heddle_counter_count(taken_over) < count) work();
  const bool right = heddle_counter_first_failure(taken_over) == HEDDLE_DONE;
  heddle_counter_free(taken_over);
  return right;
}

/* Others may need this rank when it needs nobody any more: it works until all have come here. */
static bool work_until_all_are_done(size_t answers) {
  heddle_flag* all_done = heddle_flag_new();
  while (atomic_load(&runtime.answers) < answers) work();
  bool right = heddle_try_barrier(runtime.lane, heddle_flag_completion(all_done)) == HEDDLE_POSTED;
  while (right && !heddle_flag_ready(all_done)) work();
  right = right && heddle_flag_result(all_done).code == HEDDLE_DONE;
  heddle_flag_free(all_done);
  return right;
}

/* What the ranks of this host ran. */
static bool add_up(heddle_world* world) {
  const heddle_rank me = heddle_world_rank(world);
  heddle_group* all = heddle_group_of(runtime.lane);
  heddle_group* host = heddle_group_new();
  uint64_t mine = runtime.ran, together = 0;
  bool right =
      heddle_split(all, heddle_world_host_number(world, me), me, host) == HEDDLE_DONE &&
      heddle_group_allreduce(host, &mine, &together, 1, HEDDLE_UINT64, HEDDLE_SUM) == HEDDLE_DONE;
  const int members = heddle_group_ranks(host);
  if (heddle_group_self(host) == 0)
    printf("%d ranks of this host ran %d tasks\n", members, (int)together);
  right = right && together == (uint64_t)members * runtime.expected;
  heddle_group_free(host);
  heddle_group_free(all);
  return right;
}

int main(void) {
  heddle_world* world = heddle_world_open(NULL);
  runtime.lane = world != NULL ? heddle_lane_open(world, NULL) : NULL;
  if (runtime.lane == NULL) {
    fprintf(stderr, "cannot begin: %s\n", heddle_error());
    return 1;
  }
  const int ranks = heddle_world_size(world);
  const size_t count = runtime.expected = (size_t)ranks * tasks_each;
  runtime.tasks = calloc(count + 1, sizeof *runtime.tasks);
  uint64_t(*made)[2] = calloc(count, sizeof *made);
  if (runtime.tasks == NULL || made == NULL) return 1;
  heddle_world_set_handler(world, run_handler, take_task, NULL);
  heddle_world_set_handler(world, answer_handler, take_answer, NULL);
  if (heddle_world_barrier(world) != 0) return 1; /* all have their handlers */

  const uint64_t last = count * numbers_each - 1;
  const bool right = give_tasks(made, count, ranks) && work_until_all_are_done(count) &&
                     atomic_load(&runtime.sum) == last * (last + 1) / 2 && add_up(world);
  heddle_lane_close(runtime.lane);
  heddle_world_close(world);
  free(made);
  free(runtime.tasks);
  return right ? 0 : 1;
}
