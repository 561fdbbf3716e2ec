/* SPDX-License-Identifier: BSD-3-Clause */
/* everything.c - a job in C that uses every part of c.h, and says where something is wrong. Run it
 * as two ranks or more; ends with 0 where all is right. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "everything.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int wrong = 0;
heddle_world* world;
heddle_lane* lane;
heddle_rank me, next, before;
int ranks;

enum { note_handler = 3, answer_handler = 4, notified = 5, items = 1000 };

uint64_t number(heddle_rank r, size_t i) {
  return (uint64_t)r * 1000003U + i * 7919U;
}

/* --- memory ----------------------------------------------------------------------------------- */

static bool is_all_ones(void* context, uint64_t value) {
  ++*(int*)context;
  return value == UINT32_MAX;
}

static void bounds_and_floats(heddle_address at) {
  int32_t old = 7, now = 0;
  EXPECT(heddle_atomic(lane, HEDDLE_SWAP, 4, at, (uint32_t)-5, 0, NULL) == HEDDLE_DONE);
  EXPECT(heddle_atomic(lane, HEDDLE_SIGNED_MAX, 4, at, 3, 0, &old) == HEDDLE_DONE && old == -5);
  EXPECT(heddle_atomic(lane, HEDDLE_SIGNED_MIN, 4, at, (uint32_t)-7, 0, &old) == HEDDLE_DONE);
  EXPECT(old == 3);
  EXPECT(heddle_atomic(lane, HEDDLE_UNSIGNED_MIN, 4, at, 9, 0, &old) == HEDDLE_DONE && old == -7);
  EXPECT(heddle_atomic(lane, HEDDLE_UNSIGNED_MAX, 4, at, 4, 0, &old) == HEDDLE_DONE && old == 9);
  EXPECT(heddle_get(lane, &now, sizeof now, at) == HEDDLE_DONE && now == 9);
  double was = 7;
  EXPECT(heddle_atomic(lane, HEDDLE_SWAP, 8, at, heddle_bits_of_double(0.5), 0, NULL) ==
         HEDDLE_DONE);
  EXPECT(heddle_atomic(lane, HEDDLE_FLOAT_ADD, 8, at, heddle_bits_of_double(1.25), 0, &was) ==
         HEDDLE_DONE);
  EXPECT(was == 0.5);
  float half = 0;
  EXPECT(heddle_atomic(lane, HEDDLE_SWAP, 4, at, heddle_bits_of_float(0.5F), 0, NULL) ==
         HEDDLE_DONE);
  EXPECT(heddle_atomic(lane, HEDDLE_FLOAT_ADD, 4, at, heddle_bits_of_float(-2), 0, &half) ==
         HEDDLE_DONE);
  EXPECT(half == 0.5F);
  EXPECT(heddle_atomic(lane, (heddle_atomic_op)11, 8, at, 0, 0, NULL) == HEDDLE_INVALID);
}

static bool is_two(void* context, uint64_t value) {
  (void)context;
  return value == 2;
}

/* Of a rank's own word 500, and the one behind it. */
static void signals(heddle_symmetric* array) {
  const uint64_t* mine = heddle_symmetric_local(array);
  const uint64_t out = number(me, 9);
  const heddle_address to = heddle_symmetric_at(array, next, 501 * 8),
                       word = heddle_symmetric_at(array, next, 500 * 8);
  EXPECT(heddle_put_signal(lane, &out, 8, to, HEDDLE_SWAP, word, 1) == HEDDLE_DONE);
  heddle_flag* ended = heddle_flag_new();
  EXPECT(end_of(ended, heddle_try_put_signal(lane, &out, 8, to, HEDDLE_ADD, word, 1,
                                             heddle_flag_completion(ended))) == HEDDLE_DONE);
  heddle_flag_free(ended);
  EXPECT(heddle_wait_until(lane, mine + 500, 8, is_two, NULL, HEDDLE_FOR_EVER));
  EXPECT(mine[501] == number(before, 9));
  EXPECT(heddle_put_signal(lane, &out, 8, to, HEDDLE_AND, word, 1) == HEDDLE_INVALID);
}

static void memory(void) {
  heddle_symmetric* array = heddle_symmetric_open(world, items * 8, HEDDLE_ALL_RIGHTS);
  EXPECT(array != NULL);
  uint64_t* mine = heddle_symmetric_local(array);
  uint64_t out[4] = {number(me, 1), number(me, 2), number(me, 3), number(me, 4)}, back[4] = {0};
  EXPECT(heddle_put(lane, out, sizeof out, heddle_symmetric_at(array, next, 64)) == HEDDLE_DONE);
  EXPECT(heddle_get(lane, back, sizeof back, heddle_symmetric_at(array, next, 64)) == HEDDLE_DONE);
  EXPECT(memcmp(out, back, sizeof out) == 0);
  heddle_flag* ended = heddle_flag_new();
  EXPECT(end_of(ended, heddle_try_get(lane, back, 8, heddle_symmetric_at(array, next, 72),
                                      heddle_flag_completion(ended))) == HEDDLE_DONE);
  EXPECT(back[0] == number(me, 2));
  EXPECT(heddle_barrier(lane) == HEDDLE_DONE);
  EXPECT(mine[8] == number(before, 1) && mine[11] == number(before, 4));

  /* Every rank adds to the word of rank 0, which so counts them. */
  uint64_t old = 0;
  const heddle_address word = heddle_symmetric_at(array, 0, 0);
  EXPECT(heddle_atomic(lane, HEDDLE_ADD, 8, word, 1, 0, &old) == HEDDLE_DONE);
  EXPECT(old < (uint64_t)ranks);
  EXPECT(heddle_barrier(lane) == HEDDLE_DONE);
  EXPECT(heddle_get(lane, &old, 8, word) == HEDDLE_DONE);
  EXPECT(old == (uint64_t)ranks);
  EXPECT(heddle_atomic(lane, HEDDLE_ADD, 2, word, 1, 0, &old) == HEDDLE_INVALID);
  uint32_t half = 9;
  const heddle_address own = heddle_symmetric_at(array, next, 16);
  EXPECT(heddle_compare_swap(lane, 4, own, 0, 50, &half) == HEDDLE_DONE && half == 0);
  EXPECT(heddle_compare_swap(lane, 4, own, 7, 60, &half) == HEDDLE_DONE && half == 50);
  EXPECT(end_of(ended, heddle_try_compare_swap(lane, 4, own, 50, 70, &half,
                                               heddle_flag_completion(ended))) == HEDDLE_DONE);
  EXPECT(half == 50);
  EXPECT(end_of(ended, heddle_try_atomic(lane, HEDDLE_COMPARE_SWAP, 4, own, 50, 70, &half,
                                         heddle_flag_completion(ended))) == HEDDLE_DONE);
  EXPECT(half == 70);
  heddle_flag_free(ended);
  EXPECT(heddle_atomic(lane, HEDDLE_SWAP, 4, own, UINT32_MAX, 0, &half) == HEDDLE_DONE);
  EXPECT(half == 50);
  bounds_and_floats(heddle_symmetric_at(array, next, 40));
  int looks = 0;
  EXPECT(heddle_wait_until(lane, (char*)mine + 16, 4, is_all_ones, &looks, HEDDLE_FOR_EVER));
  EXPECT(looks > 0);
  EXPECT(!heddle_wait_until(lane, (char*)mine + 24, 4, is_all_ones, &looks, 1000000));

  EXPECT(heddle_flush(lane, HEDDLE_EVERYBODY) == HEDDLE_DONE);
  EXPECT(heddle_fence(lane, next) == HEDDLE_DONE);
  EXPECT(heddle_put(lane, out, 8, heddle_symmetric_at(array, ranks, 0)) == HEDDLE_INVALID);
  EXPECT(heddle_world_barrier(world) == 0);
  signals(array);
  EXPECT(heddle_world_barrier(world) == 0);
  heddle_symmetric_close(array);
}

/* --- keys ------------------------------------------------------------------------------------- */

static void keys(void) {
  static char plain[256];
  heddle_region* exposed = heddle_expose(world, plain, sizeof plain, HEDDLE_READ);
  heddle_region* allocated = heddle_allocate(world, 4096, HEDDLE_ALL_RIGHTS);
  EXPECT(exposed != NULL && allocated != NULL);
  EXPECT(heddle_region_memory(exposed) == plain && heddle_region_bytes(allocated) == 4096);
  snprintf(plain, sizeof plain, "of rank %d", (int)me);
  heddle_key mine[2] = {heddle_region_key(exposed), heddle_region_key(allocated)}, *all;
  all = calloc((size_t)ranks, sizeof mine);
  EXPECT(heddle_allgather(lane, mine, all, sizeof mine) == HEDDLE_DONE);
  heddle_remote* theirs = heddle_import(world, &all[2 * next]);
  heddle_remote* room = heddle_import(world, &all[2 * next + 1]);
  EXPECT(theirs != NULL && room != NULL);
  EXPECT(heddle_remote_owner(theirs) == next && heddle_remote_bytes(theirs) == sizeof plain);
  char text[32] = "", expected[32];
  snprintf(expected, sizeof expected, "of rank %d", (int)next);
  EXPECT(heddle_get(lane, text, sizeof text, heddle_remote_at(theirs, 0)) == HEDDLE_DONE);
  EXPECT(strcmp(text, expected) == 0);
  EXPECT(heddle_put(lane, text, 8, heddle_remote_at(theirs, 0)) == HEDDLE_DENIED);
  EXPECT(heddle_put(lane, text, 8, heddle_remote_at(room, 4090)) == HEDDLE_OUT_OF_BOUNDS);
  EXPECT(heddle_put(lane, text, 8, heddle_remote_at(room, 4088)) == HEDDLE_DONE);

  heddle_key none;
  memset(&none, 0, sizeof none);
  EXPECT(heddle_import(world, &none) == NULL);
  EXPECT(strlen(heddle_error()) > 0);

  EXPECT(heddle_world_barrier(world) == 0);
  heddle_remote_close(theirs);
  heddle_remote_close(room);
  heddle_region_withdraw(exposed);
  heddle_region_close(exposed);
  heddle_region_close(allocated);
  free(all);
}

/* --- active messages -------------------------------------------------------------------------- */

static struct {
  atomic_int notes, answers, notifications;
  void* kept;
  size_t bytes;
  uint32_t said; /* in the answer, which may leave after the handler has returned */
} heard;

static void note(void* context, heddle_lane* here, const heddle_message* m) {
  EXPECT(context == &heard && m->header_bytes == 3 && memcmp(m->header, "hi", 3) == 0);
  heard.bytes = m->payload_bytes;
  heard.kept = heddle_message_keep(m);
  heard.said = (uint32_t)m->payload_bytes;
  EXPECT(heddle_try_call(here, m->source, m->lane, answer_handler, &heard.said, sizeof heard.said,
                         NULL, 0, heddle_ignore()) <= HEDDLE_POSTED);
  atomic_fetch_add(&heard.notes, 1);
}
static void answer(void* context, heddle_lane* here, const heddle_message* m) {
  uint32_t said = 0;
  (void)context, (void)here;
  memcpy(&said, m->header, sizeof said);
  EXPECT(said == 70000 && m->source == next);
  atomic_fetch_add(&heard.answers, 1);
}
static void notice(void* context, heddle_lane* here, const heddle_message* m) {
  uint64_t value = 0;
  (void)here;
  memcpy(&value, m->header, sizeof value);
  EXPECT(value == 4711 && *(const char*)context == 'x');
  atomic_fetch_add(&heard.notifications, 1);
}
static void lost(void* context, heddle_rank peer, const char* why) {
  (void)context;
  EXPECT(peer >= 0 && peer < ranks && strlen(why) > 0);
}

static atomic_int surprises;
static void surprise(void* context, heddle_lane* here, uint16_t id, const heddle_message* message) {
  (void)context, (void)here;
  EXPECT(id == 900 && message->source == before);
  atomic_fetch_add(&surprises, 1);
}

static void active_messages(void) {
  heddle_symmetric* array = heddle_symmetric_open(world, 64, HEDDLE_ALL_RIGHTS);
  EXPECT(heddle_world_set_handler(world, note_handler, note, &heard) == 0);
  EXPECT(heddle_world_set_handler(world, answer_handler, answer, NULL) == 0);
  EXPECT(heddle_world_set_handler(world, notified, notice, heddle_symmetric_local(array)) == 0);
  EXPECT(heddle_world_set_handler(world, HEDDLE_MAX_HANDLERS, note, NULL) == -1);
  const int spare = heddle_world_add_handler(world, "spare", note, NULL);
  EXPECT(spare >= 0 && heddle_world_handler(world, "spare") == spare);
  EXPECT(heddle_world_handler(world, "other") == -1 && strstr(heddle_error(), "other") != NULL);
  heddle_world_on_unknown_call(world, surprise, NULL);
  heddle_world_on_peer_lost(world, lost, NULL);
  EXPECT(heddle_world_barrier(world) == 0);
  char* payload = malloc(70000);
  memset(payload, me + 1, 70000);
  EXPECT(heddle_call(lane, next, HEDDLE_SAME_LANE, note_handler, "hi", 3, payload, 70000) ==
         HEDDLE_DONE);
  EXPECT(heddle_put_notify(lane, "x", 1, heddle_symmetric_at(array, next, 0), notified, 4711) ==
         HEDDLE_DONE);
  heddle_flag* ended = heddle_flag_new();
  EXPECT(end_of(ended, heddle_try_put_notify(lane, "x", 1, heddle_symmetric_at(array, next, 0),
                                             notified, 4711, heddle_flag_completion(ended))) ==
         HEDDLE_DONE);
  heddle_flag_free(ended);
  EXPECT(heddle_call(lane, next, HEDDLE_SAME_LANE, 900, NULL, 0, NULL, 0) == HEDDLE_DONE);
  while (atomic_load(&surprises) == 0) heddle_poll(lane);
  while (atomic_load(&heard.notes) == 0 || atomic_load(&heard.answers) == 0 ||
         atomic_load(&heard.notifications) < 2)
    heddle_poll(lane);
  EXPECT(heard.bytes == 70000 && heard.kept != NULL);
  EXPECT(((char*)heard.kept)[0] == before + 1 && ((char*)heard.kept)[69999] == before + 1);
  heddle_free(heard.kept);
  free(payload);
  EXPECT(heddle_world_barrier(world) == 0);
  heddle_symmetric_close(array);
}

/* --- what happens ----------------------------------------------------------------------------- */

static void hear(void* context, int level, const char* subsystem, const char* line) {
  if (level == HEDDLE_LOG_INFO && strcmp(subsystem, "job") == 0 && strlen(line) > 0)
    ++*(int*)context;
}

static void texts(void) {
  EXPECT(heddle_c_version() == HEDDLE_C_VERSION && strlen(heddle_library_version()) > 0);
  EXPECT(strcmp(heddle_status_name(HEDDLE_PEER_LOST), "peer_lost") == 0);
  EXPECT(strcmp(heddle_status_name((heddle_status)200), "unknown") == 0);
  char* const some[] = {heddle_world_describe(world), heddle_world_route(world, next),
                        heddle_world_host(world, next), heddle_world_metrics(world)};
  for (size_t i = 0; i < sizeof some / sizeof *some; ++i) {
    EXPECT(some[i] != NULL && strlen(some[i]) > 0);
    heddle_free(some[i]);
  }
  EXPECT(heddle_world_host_number(world, next) >= 0);
  EXPECT(heddle_world_host_number(world, ranks) == -1);
  char* why = heddle_lane_why(lane, next);
  EXPECT(why != NULL && *why == '\0');
  heddle_free(why);
  heddle_lane_options taken;
  heddle_lane_options_init(&taken, sizeof taken);
  taken.number = heddle_lane_number(lane);
  EXPECT(heddle_lane_open(world, &taken) == NULL && strlen(heddle_error()) > 0);
  (void)heddle_world_idle_hook(world);
}

/* A program that was compiled when options were fewer; what lies behind them is its own. */
static void older_programs(void) {
  struct {
    heddle_world_options options;
    unsigned char own[8];
  } memory;
  memset(&memory, 7, sizeof memory);
  const size_t known = offsetof(heddle_world_options, settings);
  heddle_world_options_init(&memory.options, known);
  EXPECT(memory.options.size == known && memory.options.executors == 1);
  const unsigned char* behind = (const unsigned char*)&memory.options + known;
  for (size_t i = 0; i < sizeof memory - known; ++i) EXPECT(behind[i] == 7);
}

/* What it may not do is refused, and does not end it. */
static void a_forked_child(void) {
  const pid_t child = fork();
  if (child == 0) {
    heddle_world_on_peer_lost(world, NULL, NULL);
    if (strstr(heddle_error(), "lost peers") == NULL) _exit(1);
    heddle_world_on_unknown_call(world, NULL, NULL);
    _exit(strstr(heddle_error(), "unknown ids") == NULL);
  }
  int status = -1;
  EXPECT(waitpid(child, &status, 0) == child && status == 0);
}

static void worlds_beside(void) {
  const char* const settings[] = {"HEDDLE_RECORDS=512", NULL};
  const char* const wrong_ones[] = {"HEDDLE_RECORDS", NULL};
  heddle_world_options options;
  heddle_world_options_init(&options, sizeof options);
  options.settings = wrong_ones;
  EXPECT(heddle_world_open(&options) == NULL && strstr(heddle_error(), "NAME=VALUE") != NULL);
  options.settings = settings;
  heddle_world* named = heddle_world_open_beside(world, &options);
  heddle_world* unnamed = heddle_world_open(NULL); /* a library that knows of no other world */
  EXPECT(named != NULL && unnamed != NULL && heddle_world_size(unnamed) == ranks);
  heddle_lane* other = heddle_lane_open(named, NULL);
  EXPECT(other != NULL);
  char* text = heddle_world_describe(named);
  EXPECT(strstr(text, "HEDDLE_RECORDS 512 (program)") != NULL);
  heddle_free(text);
  int out = me, in = -1;
  EXPECT(heddle_send(other, next, HEDDLE_SAME_LANE, 9, &out, sizeof out) == HEDDLE_DONE);
  heddle_outcome o;
  heddle_status s;
  do {
    s = heddle_try_probe(lane, before, 9, HEDDLE_EXACT_TAG, &o);
  } while (heddle_is_busy(s));
  EXPECT(s == HEDDLE_NOT_FOUND);
  EXPECT(heddle_recv(other, before, 9, HEDDLE_EXACT_TAG, &in, sizeof in).code == HEDDLE_DONE);
  EXPECT(in == before);
  EXPECT(heddle_world_barrier(named) == 0);
  heddle_lane_close(other);
  heddle_world_close(named);
  heddle_world_close(unnamed);
}

int main(void) {
  int lines = 0;
  setenv("HEDDLE_LOG", "warn,job=info", 1);
  heddle_world_options options;
  heddle_world_options_init(&options, sizeof options);
  options.progress = HEDDLE_PROGRESS_ADAPTIVE;
  world = heddle_world_open(&options);
  if (world == NULL) {
    fprintf(stderr, "no world: %s\n", heddle_error());
    return 1;
  }
  lane = heddle_lane_open(world, NULL);
  me = heddle_world_rank(world);
  ranks = heddle_world_size(world);
  next = (me + 1) % ranks;
  before = (me + ranks - 1) % ranks;
  messages();
  memory();
  blocks();
  order();
  limits();
  keys();
  active_messages();
  placed_calls();
  endings();
  collectives();
  groups();
  observing();
  texts();
  older_programs();
  a_forked_child();
  worlds_beside();
  EXPECT(heddle_world_barrier(world) == 0);
  EXPECT(heddle_set_log_handler(hear, &lines) == 0);
  heddle_world_close(world);
  EXPECT(lines >= 1); /* that this rank leaves */
  EXPECT(heddle_set_log_handler(NULL, NULL) == 0);
  EXPECT(heddle_put(lane, NULL, 0, (heddle_address){NULL, 0}) != HEDDLE_DONE);
  heddle_lane_close(lane);
  return wrong;
}
