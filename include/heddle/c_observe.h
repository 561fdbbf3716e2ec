/* SPDX-License-Identifier: BSD-3-Clause */
/* c_observe.h - log and counters in C: a part of c.h, which includes it. */
#ifndef HEDDLE_C_OBSERVE_H
#define HEDDLE_C_OBSERVE_H
#include <heddle/c.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* NOLINTBEGIN(modernize-*,readability-identifier-naming): in C */

/* --- the log ---------------------------------------------------------------------------------- */

typedef enum heddle_log_level {
  HEDDLE_LOG_DEBUG,
  HEDDLE_LOG_INFO,
  HEDDLE_LOG_WARN,
  HEDDLE_LOG_ERROR
} heddle_log_level;
/* As heddle::log_handler; `level` is a heddle_log_level. Both texts end with a zero byte. */
typedef void (*heddle_log_handler)(void* context, int level, const char* subsystem,
                                   const char* line);
/* As heddle::set_log_handler; null: standard error again. 0, or -1: no memory. */
int heddle_set_log_handler(heddle_log_handler function, void* context);

/* --- what lanes count: counters.h tells of each ----------------------------------------------- */

/* As heddle::lane_counters and heddle::peer_counters. */
typedef struct heddle_lane_counters {
  size_t size;
  int32_t rank;
  int32_t lane;
  uint64_t in_flight;
  uint64_t in_flight_bytes;
  uint64_t waiting_threads;
  uint64_t events;
  uint64_t eager;
  uint64_t rendezvous;
  uint64_t emulated;
  uint64_t stripes;
  uint64_t unexpected;
  uint64_t backlogged;
  uint64_t posts_together;
  uint64_t posted_together;
  uint64_t unknown_handlers;
  uint64_t lost_peers;
  uint64_t violations;
  uint64_t left;
  uint64_t helped;
  uint64_t rescues;
} heddle_lane_counters;
typedef struct heddle_peer_counters {
  size_t size;
  int32_t rank;
  int32_t lane;
  int32_t peer;
  int32_t peer_lane;
  uint64_t sent_messages;
  uint64_t sent_bytes;
  uint64_t received_messages;
  uint64_t received_bytes;
  uint64_t accesses;
  uint64_t accessed_bytes;
  uint64_t backlog;
  uint64_t control;
  uint64_t credit;
  uint64_t credit_limit;
  uint64_t held;
  uint64_t lost;
} heddle_peer_counters;
void heddle_lane_counters_init(heddle_lane_counters* counters, size_t size);
/* Writes the members that `into->size` covers. */
void heddle_lane_read_counters(const heddle_lane* lane, heddle_lane_counters* into);
/* Writes those of `most` peers at most; `found`: how many there are. `each` is the caller's
 * sizeof(heddle_peer_counters). Also HEDDLE_NO_MEMORY. */
heddle_status heddle_lane_read_peer_counters(heddle_lane* lane, heddle_peer_counters* into,
                                             size_t most, size_t each, size_t* found);
/* Of all lanes, in the text format of Prometheus. */
char* heddle_world_metrics(const heddle_world* world);

/* NOLINTEND(modernize-*,readability-identifier-naming) */

#if defined(__cplusplus)
}
#endif
#endif
