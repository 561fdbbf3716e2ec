/* SPDX-License-Identifier: BSD-3-Clause */
/* c_observe.h - log, hooks and counters in C: a part of c.h, which includes it. */
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

/* --- operations (trace.h) --------------------------------------------------------------------- */

typedef enum heddle_operation_kind {
  HEDDLE_OPERATION_PUT,
  HEDDLE_OPERATION_PUT_NOTIFY,
  HEDDLE_OPERATION_PUT_SIGNAL,
  HEDDLE_OPERATION_GET,
  HEDDLE_OPERATION_ATOMIC,
  HEDDLE_OPERATION_SEND,
  HEDDLE_OPERATION_RECV,
  HEDDLE_OPERATION_CALL,
  HEDDLE_OPERATION_FLUSH,
  HEDDLE_OPERATION_WHEN_READY
} heddle_operation_kind;
/* The kind's name, like "put_notify". Constant. */
const char* heddle_operation_name(heddle_operation_kind kind);
/* As heddle::operation_info. */
typedef struct heddle_operation {
  uint8_t kind; /* a heddle_operation_kind */
  heddle_rank self;
  int lane;
  heddle_rank peer;
  heddle_tag tag;
  size_t bytes;
} heddle_operation;
/* Before an operation is posted; what it returns is given to its end. */
typedef uint64_t (*heddle_begin_hook)(void* context, const heddle_operation* of);
/* Once for each begin, before the completion; `code` is a heddle_status. */
typedef void (*heddle_end_hook)(void* context, uint64_t mark, const heddle_operation* of,
                                uint8_t code);
/* As heddle::set_operation_hooks: for all worlds of this process, and what began with other hooks
 * ends with those, so `context` stays until it has. One of the two may be null; both: no hooks.
 * They must not call Heddle, nor block. Any thread. 0, or -1: no memory, and nothing has changed.
 */
int heddle_set_operation_hooks(heddle_begin_hook begin, heddle_end_hook end, void* context);

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

typedef enum heddle_counter_kind { HEDDLE_KIND_COUNTER, HEDDLE_KIND_GAUGE } heddle_counter_kind;
/* What a member of one of these is; as heddle::counter_row. All of it is constant. */
typedef struct heddle_counter_row {
  const char* name; /* the member's */
  const char* unit;
  int32_t kind; /* a heddle_counter_kind */
  const char* help;
  size_t offset; /* in the structure: of a uint64_t */
} heddle_counter_row;
/* A row for each member that the library knows, in their order; `rows`: how many there are. A
 * program that is older than the library has no room for those at its structures' ends. */
const heddle_counter_row* heddle_lane_counter_table(size_t* rows);
const heddle_counter_row* heddle_peer_counter_table(size_t* rows);
/* These in the text format of Prometheus, of which several ranks' may stand in one text. `each_...`
 * are the caller's sizes of one; what it does not know is 0. Null: no memory. */
char* heddle_prometheus_text(const heddle_lane_counters* lanes, size_t lane_count, size_t each_lane,
                             const heddle_peer_counters* peers, size_t peer_count,
                             size_t each_peer);

/* NOLINTEND(modernize-*,readability-identifier-naming) */

#if defined(__cplusplus)
}
#endif
#endif
