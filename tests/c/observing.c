/* SPDX-License-Identifier: BSD-3-Clause */
/* observing.c - of everything.c: what lanes count, and hooks that see operations. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "everything.h"

static void counters(void) {
  heddle_lane_counters then, now;
  heddle_lane_counters_init(&then, sizeof then);
  heddle_lane_counters_init(&now, sizeof now);
  heddle_lane_read_counters(lane, &then);
  uint64_t word = 1;
  EXPECT(heddle_send(lane, next, HEDDLE_SAME_LANE, 90, &word, sizeof word) == HEDDLE_DONE);
  EXPECT(heddle_recv(lane, before, 90, HEDDLE_EXACT_TAG, &word, sizeof word).code == HEDDLE_DONE);
  heddle_lane_read_counters(lane, &now);
  EXPECT(now.size == sizeof now && now.rank == me && now.lane == heddle_lane_number(lane));
  EXPECT(now.eager == then.eager + 1);
  heddle_peer_counters* const peers = calloc((size_t)ranks + 1, sizeof *peers);
  size_t found = 0;
  heddle_status s;
  do {
    s = heddle_lane_read_peer_counters(lane, peers, (size_t)ranks, sizeof *peers, &found);
  } while (heddle_is_busy(s));
  EXPECT(s == HEDDLE_DONE && found >= 1 && found <= (size_t)ranks);
  bool sent = false;
  for (size_t i = 0; i < found; ++i) sent |= peers[i].peer == next && peers[i].sent_bytes >= 8;
  EXPECT(sent);
  EXPECT(peers[ranks].size == 0); /* nothing is written behind the room that was given */
  free(peers);
}

static void expect_table(const heddle_counter_row* row, size_t rows, size_t bytes) {
  for (size_t i = 0; i < rows; ++i) {
    EXPECT(strlen(row[i].name) > 0 && strlen(row[i].unit) > 0 && strlen(row[i].help) > 0);
    EXPECT(row[i].offset == bytes - 8 * (rows - i));
  }
}

static void tables(void) {
  size_t rows = 0;
  const heddle_counter_row* of_lanes = heddle_lane_counter_table(&rows);
  expect_table(of_lanes, rows, sizeof(heddle_lane_counters));
  EXPECT(of_lanes[0].offset == offsetof(heddle_lane_counters, in_flight));
  EXPECT(strcmp(of_lanes[0].name, "in_flight") == 0 && of_lanes[0].kind == HEDDLE_KIND_GAUGE);
  EXPECT(strcmp(of_lanes[rows - 1].name, "rescues") == 0);
  EXPECT(of_lanes[rows - 1].kind == HEDDLE_KIND_COUNTER);
  const heddle_counter_row* of_peers = heddle_peer_counter_table(&rows);
  expect_table(of_peers, rows, sizeof(heddle_peer_counters));
  EXPECT(strcmp(of_peers[rows - 1].name, "lost") == 0);
}

/* Of a program that does not know the last of a lane's counters. */
static void metrics(void) {
  const heddle_lane_counters l = {.rank = 3, .lane = 1, .eager = 17, .rescues = 4};
  const heddle_peer_counters p[2] = {{.rank = 3, .lane = 1, .peer = 5, .sent_messages = 9},
                                     {.rank = 3, .lane = 1, .peer = 6, .sent_messages = 8}};
  char* text =
      heddle_prometheus_text(&l, 1, offsetof(heddle_lane_counters, rescues), p, 2, sizeof *p);
  const char* const lines[] = {
      "heddle_lane_eager_total{rank=\"3\",lane=\"1\"} 17\n",
      "heddle_lane_rescues_total{rank=\"3\",lane=\"1\"} 0\n",
      "heddle_peer_sent_messages_total{rank=\"3\",lane=\"1\",peer=\"5\",peer_lane=\"0\"} 9\n",
      "heddle_peer_sent_messages_total{rank=\"3\",lane=\"1\",peer=\"6\",peer_lane=\"0\"} 8\n"};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; ++i) EXPECT(strstr(text, lines[i]) != NULL);
  heddle_free(text);
  text = heddle_prometheus_text(NULL, 0, sizeof l, NULL, 0, sizeof *p);
  EXPECT(text != NULL && *text == 0);
  heddle_free(text);
}

/* --- hooks ------------------------------------------------------------------------------------ */

enum { watched_tag = 91, first_mark = 4711 };
static struct { atomic_int begun, ended[HEDDLE_OPERATION_WHEN_READY + 1]; } seen;

static uint64_t begin(void* context, const heddle_operation* of) {
  EXPECT(context == &seen && of->self == me);
  if (of->tag != watched_tag) return 0;
  EXPECT(of->lane == heddle_lane_number(lane) && of->bytes == 8);
  atomic_fetch_add(&seen.begun, 1);
  return first_mark + of->kind;
}
static void end(void* context, uint64_t mark, const heddle_operation* of, uint8_t code) {
  EXPECT(context == &seen);
  if (of->tag != watched_tag) return;
  EXPECT(mark == (uint64_t)first_mark + of->kind && code == HEDDLE_DONE && of->bytes == 8);
  EXPECT(of->peer == (of->kind == HEDDLE_OPERATION_SEND ? next : before));
  atomic_fetch_add(&seen.ended[of->kind], 1);
}

static void exchange(void) {
  uint64_t word = 1;
  EXPECT(heddle_send(lane, next, HEDDLE_SAME_LANE, watched_tag, &word, sizeof word) == HEDDLE_DONE);
  EXPECT(heddle_recv(lane, before, watched_tag, HEDDLE_EXACT_TAG, &word, sizeof word).code ==
         HEDDLE_DONE);
}

static void hooks(void) {
  EXPECT(strcmp(heddle_operation_name(HEDDLE_OPERATION_PUT_NOTIFY), "put_notify") == 0);
  EXPECT(strcmp(heddle_operation_name((heddle_operation_kind)99), "unknown") == 0);
  EXPECT(heddle_set_operation_hooks(begin, end, &seen) == 0);
  exchange();
  EXPECT(heddle_set_operation_hooks(NULL, NULL, NULL) == 0);
  exchange(); /* which nobody watches */
  EXPECT(atomic_load(&seen.begun) == 2);
  EXPECT(atomic_load(&seen.ended[HEDDLE_OPERATION_SEND]) == 1);
  EXPECT(atomic_load(&seen.ended[HEDDLE_OPERATION_RECV]) == 1);
}

void observing(void) {
  counters();
  tables();
  metrics();
  hooks();
}
