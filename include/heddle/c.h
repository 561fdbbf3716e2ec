/* SPDX-License-Identifier: BSD-3-Clause */
/* c.h - Heddle for C11, and for languages that call C: the whole of heddle.h but its coroutines.
 *
 * What each function does, its statuses, who owns which buffer, and which thread may call it is
 * what the C++ function of the same name says (lane.h, world.h, memory.h, completion.h, blocks.h,
 * group.h, collectives.h, counters.h, trace.h, log.h); here stands what is different. Not here is
 * what needs no library: typed pointers and spans.
 *
 * - Handles are opaque. Every handle that a function opens or makes is closed or freed by the
 *   function named with it; null may be given to those. A null handle is not valid anywhere else.
 * - Set-up functions return null or -1 where C++ throws; heddle_error() has the reason then.
 * - Nothing else fails but by a heddle_status. Functions that C calls back must return normally: no
 *   longjmp.
 * - Texts that a function returns as `char*` are the caller's, and freed by heddle_free().
 * - ABI: functions are added, never changed, while HEDDLE_C_VERSION stays; option structures begin
 *   with their size, which heddle_..._init() sets to what it is given (sizeof, as the program was
 *   compiled), and grow at their end. All other structures and the numbers of the enumerations stay
 *   as they are.
 */
#ifndef HEDDLE_C_H
#define HEDDLE_C_H

#include <stddef.h>
#include <stdint.h>
#if !defined(__cplusplus)
#include <stdbool.h>
#endif

#if defined(__cplusplus)
extern "C" {
#endif

/* NOLINTBEGIN(modernize-*,readability-identifier-naming): in C */
#define HEDDLE_C_VERSION 1

typedef int32_t heddle_rank;
typedef uint64_t heddle_tag;

#define HEDDLE_ANY_SOURCE ((heddle_rank)-1) /* of a receive or probe */
#define HEDDLE_EVERYBODY ((heddle_rank)-1)  /* of heddle_flush and its like */
#define HEDDLE_SAME_LANE (-1)               /* the peer's lane of the sender's own number */
#define HEDDLE_MAX_TAG (UINT64_MAX >> 1)
#define HEDDLE_EXACT_TAG UINT64_MAX        /* mask: the tag itself */
#define HEDDLE_ANY_TAG ((uint64_t)1 << 63) /* mask, with tag 0: every tag */
#define HEDDLE_MAX_HANDLERS 1024
#define HEDDLE_MAX_CALL_HEADER 64 /* bytes */
#define HEDDLE_FOR_EVER INT64_MAX /* nanoseconds */

/* As heddle::status. */
typedef enum heddle_status {
  HEDDLE_DONE,
  HEDDLE_POSTED,
  HEDDLE_BUSY_QUEUE,
  HEDDLE_BUSY_RECORDS,
  HEDDLE_BUSY_LANE,
  HEDDLE_NOT_FOUND,
  HEDDLE_CANCELED,
  HEDDLE_TRUNCATED,
  HEDDLE_OUT_OF_BOUNDS,
  HEDDLE_MISALIGNED,
  HEDDLE_DENIED,
  HEDDLE_WITHDRAWN,
  HEDDLE_PEER_LOST,
  HEDDLE_INVALID,
  HEDDLE_UNSUPPORTED,
  HEDDLE_NO_MEMORY,
  HEDDLE_CLOSED,
  HEDDLE_TIMED_OUT
} heddle_status;

static inline bool heddle_is_busy(heddle_status s) {
  return s >= HEDDLE_BUSY_QUEUE && s <= HEDDLE_BUSY_LANE;
}
static inline bool heddle_is_refused(heddle_status s) {
  return s >= HEDDLE_NOT_FOUND;
}

/* The status's name, like "peer_lost". Constant. */
const char* heddle_status_name(heddle_status s);
/* Why the calling thread's last set-up function failed; until its next one. Never null. */
const char* heddle_error(void);
/* Of the library that is loaded, like "0.1.0". Constant. */
const char* heddle_library_version(void);
/* The HEDDLE_C_VERSION of the library that is loaded. */
int heddle_c_version(void);
/* Frees texts, and payloads that were kept. */
void heddle_free(void* text_or_payload);

/* --- the end of an operation ------------------------------------------------------------------ */

/* As heddle::outcome. */
typedef struct heddle_outcome {
  uint8_t code; /* a heddle_status */
  int16_t lane;
  heddle_rank peer;
  heddle_tag tag;
  size_t bytes;
} heddle_outcome;

/* As heddle::completion: `deliver` runs once for what was posted, on whatever thread. */
typedef struct heddle_completion {
  void (*deliver)(void* owner, uint64_t cookie, const heddle_outcome* what);
  void* owner;
  uint64_t cookie;
} heddle_completion;

/* Nothing happens at the end. */
static inline heddle_completion heddle_ignore(void) {
  heddle_completion c = {NULL, NULL, 0};
  return c;
}

typedef struct heddle_flag heddle_flag;             /* becomes ready once */
typedef struct heddle_counter heddle_counter;       /* counts */
typedef struct heddle_queue heddle_queue;           /* collects outcomes */
typedef struct heddle_descriptor heddle_descriptor; /* counts into a descriptor for poll() */

/* Null: no memory. */
heddle_flag* heddle_flag_new(void);
void heddle_flag_free(heddle_flag* flag);
heddle_completion heddle_flag_completion(heddle_flag* flag);
bool heddle_flag_ready(const heddle_flag* flag);
/* Only once it is ready. */
heddle_outcome heddle_flag_result(const heddle_flag* flag);
void heddle_flag_reset(heddle_flag* flag);

heddle_counter* heddle_counter_new(void);
void heddle_counter_free(heddle_counter* counter);
heddle_completion heddle_counter_completion(heddle_counter* counter);
uint64_t heddle_counter_count(const heddle_counter* counter);
heddle_status heddle_counter_first_failure(const heddle_counter* counter);
/* Counts an answer that no completion will follow; returns it. */
heddle_status heddle_counter_track(heddle_counter* counter, heddle_status answer);
void heddle_counter_reset(heddle_counter* counter);

heddle_queue* heddle_queue_new(size_t capacity);
void heddle_queue_free(heddle_queue* queue);
heddle_completion heddle_queue_completion(heddle_queue* queue, uint64_t cookie);
/* False: empty, and nothing was written. */
bool heddle_queue_pop(heddle_queue* queue, uint64_t* cookie, heddle_outcome* what);
uint64_t heddle_queue_delivered(const heddle_queue* queue);

/* Null: no descriptors, or no memory (heddle_error). */
heddle_descriptor* heddle_descriptor_open(void);
void heddle_descriptor_close(heddle_descriptor* descriptor);
heddle_completion heddle_descriptor_completion(heddle_descriptor* descriptor);
int heddle_descriptor_fd(const heddle_descriptor* descriptor);
uint64_t heddle_descriptor_take(heddle_descriptor* descriptor);
heddle_status heddle_descriptor_first_failure(const heddle_descriptor* descriptor);

/* --- the world -------------------------------------------------------------------------------- */

typedef struct heddle_world heddle_world;
typedef struct heddle_lane heddle_lane;

typedef enum heddle_progress_mode {
  HEDDLE_PROGRESS_ADAPTIVE,
  HEDDLE_PROGRESS_INLINE,
  HEDDLE_PROGRESS_DEDICATED,
  HEDDLE_PROGRESS_IDLE
} heddle_progress_mode;

/* As heddle::world_options. */
typedef struct heddle_world_options {
  size_t size;
  int32_t progress; /* a heddle_progress_mode */
  int32_t executors;
  const char* executor_cores;  /* null: "near" */
  const char* const* settings; /* like "HEDDLE_RECORDS=512", behind the last a null; null: none */
} heddle_world_options;
void heddle_world_options_init(heddle_world_options* options, size_t size);

/* Joins the job. `options` may be null. Null: failed. */
heddle_world* heddle_world_open(const heddle_world_options* options);
/* A world of the same ranks beside `first`, on all ranks at once: see heddle::world. */
heddle_world* heddle_world_open_beside(heddle_world* first, const heddle_world_options* options);
void heddle_world_close(heddle_world* world);
heddle_rank heddle_world_rank(const heddle_world* world);
int heddle_world_size(const heddle_world* world);
/* 0, or -1. */
int heddle_world_barrier(heddle_world* world);
size_t heddle_world_idle_hook(heddle_world* world);
/* As heddle::world::abort: ends the whole job with `status`, 1 to 255, and does not return. `why`
 * may be null. */
void heddle_world_abort(heddle_world* world, int status, const char* why);
char* heddle_world_describe(const heddle_world* world);
char* heddle_world_route(const heddle_world* world, heddle_rank peer);
char* heddle_world_host(const heddle_world* world, heddle_rank peer);
int heddle_world_host_number(const heddle_world* world, heddle_rank peer);

/* As heddle::call_message: valid until the handler returns. */
typedef struct heddle_message {
  heddle_rank source;
  int lane;
  const void* header;
  size_t header_bytes;
  const void* payload;
  size_t payload_bytes;
  void* owned; /* Heddle's own */
} heddle_message;
/* The payload's bytes, for heddle_free(). At most once; null: no memory. */
void* heddle_message_keep(const heddle_message* message);

typedef void (*heddle_call_handler)(void* context, heddle_lane* here,
                                    const heddle_message* message);
/* `why` ends with a zero byte, and is valid until the handler returns. */
typedef void (*heddle_loss_handler)(void* context, heddle_rank peer, const char* why);
/* 0, or -1: `id` is not below HEDDLE_MAX_HANDLERS. */
int heddle_world_set_handler(heddle_world* world, uint16_t id, heddle_call_handler function,
                             void* context);
/* Under a name, collective: its id, or -1. The id of a name, or -1: there is none. */
int heddle_world_add_handler(heddle_world* world, const char* name, heddle_call_handler function,
                             void* context);
int heddle_world_handler(heddle_world* world, const char* name);

typedef struct heddle_matched heddle_matched; /* a message taken out of matching, or none */
/* As heddle::arriving_call: valid until the handler returns, and what is left in `payload` then is
 * dropped. heddle_try_recv_matched() says where it goes, heddle_matched_move() keeps it for later.
 */
typedef struct heddle_arriving_call {
  heddle_rank source;
  int lane;
  const void* header;
  size_t header_bytes;
  heddle_matched* payload;
} heddle_arriving_call;
typedef void (*heddle_header_handler)(void* context, heddle_lane* here,
                                      const heddle_arriving_call* call);
/* As the two above, of handlers that choose where the payload goes. */
int heddle_world_set_header_handler(heddle_world* world, uint16_t id,
                                    heddle_header_handler function, void* context);
int heddle_world_add_header_handler(heddle_world* world, const char* name,
                                    heddle_header_handler function, void* context);

typedef void (*heddle_unknown_handler)(void* context, heddle_lane* here, uint16_t id,
                                       const heddle_message* message);
void heddle_world_on_unknown_call(heddle_world* world, heddle_unknown_handler function,
                                  void* context);
void heddle_world_on_peer_lost(heddle_world* world, heddle_loss_handler function, void* context);

/* --- memory that peers may address ------------------------------------------------------------ */

enum { HEDDLE_READ = 1, HEDDLE_WRITE = 2, HEDDLE_ATOMIC = 4, HEDDLE_ALL_RIGHTS = 7 };

typedef struct heddle_key {
  unsigned char bytes[48];
} heddle_key;
/* As heddle::remote_address: add to `offset` to go on. */
typedef struct heddle_address {
  const void* target;
  uint64_t offset;
} heddle_address;

typedef struct heddle_region heddle_region;       /* own memory */
typedef struct heddle_remote heddle_remote;       /* a peer's region */
typedef struct heddle_symmetric heddle_symmetric; /* the same bytes on every rank */

/* Null: failed. */
heddle_region* heddle_expose(heddle_world* world, void* memory, size_t bytes, unsigned rights);
heddle_region* heddle_allocate(heddle_world* world, size_t bytes, unsigned rights);
void heddle_region_close(heddle_region* region);
void heddle_region_withdraw(heddle_region* region);
void* heddle_region_memory(const heddle_region* region);
size_t heddle_region_bytes(const heddle_region* region);
heddle_key heddle_region_key(const heddle_region* region);

heddle_remote* heddle_import(heddle_world* world, const heddle_key* key);
void heddle_remote_close(heddle_remote* remote);
heddle_address heddle_remote_at(const heddle_remote* remote, uint64_t offset);
uint64_t heddle_remote_bytes(const heddle_remote* remote);
heddle_rank heddle_remote_owner(const heddle_remote* remote);
unsigned heddle_remote_rights(const heddle_remote* remote);
bool heddle_remote_mapped(const heddle_remote* remote);
/* Null: not mapped in this process, or no longer. */
void* heddle_remote_mapped_memory(const heddle_remote* remote);

/* Collective: of Heddle's own memory, as much on every rank; of memory that each rank has. */
heddle_symmetric* heddle_symmetric_open(heddle_world* world, size_t bytes, unsigned rights);
heddle_symmetric* heddle_expose_symmetric(heddle_world* world, void* memory, size_t bytes,
                                          unsigned rights);
void heddle_symmetric_close(heddle_symmetric* array);
void* heddle_symmetric_local(const heddle_symmetric* array);
size_t heddle_symmetric_bytes(const heddle_symmetric* array, heddle_rank peer);
heddle_address heddle_symmetric_at(const heddle_symmetric* array, heddle_rank peer,
                                   uint64_t offset);
/* Null: not mapped in this process, or no longer. */
void* heddle_symmetric_mapped_memory(const heddle_symmetric* array, heddle_rank peer);

/* --- lanes ------------------------------------------------------------------------------------ */

/* As heddle::lane_options. */
typedef struct heddle_lane_options {
  size_t size;
  int32_t number;    /* -1: the next free one */
  int32_t exclusive; /* 0 or 1 */
} heddle_lane_options;
void heddle_lane_options_init(heddle_lane_options* options, size_t size);

/* `options` may be null. Null: failed. */
heddle_lane* heddle_lane_open(heddle_world* world, const heddle_lane_options* options);
void heddle_lane_close(heddle_lane* lane);
int heddle_lane_number(const heddle_lane* lane);
/* Why operations on `peer` end with peer_lost; empty: it is not lost. */
char* heddle_lane_why(const heddle_lane* lane, heddle_rank peer);

heddle_status heddle_try_put(heddle_lane* lane, const void* from, size_t bytes, heddle_address to,
                             heddle_completion ended);
heddle_status heddle_try_get(heddle_lane* lane, void* into, size_t bytes, heddle_address from,
                             heddle_completion ended);
heddle_status heddle_try_put_notify(heddle_lane* lane, const void* from, size_t bytes,
                                    heddle_address to, uint16_t handler, uint64_t value,
                                    heddle_completion ended);

typedef enum heddle_atomic_op {
  HEDDLE_ADD,
  HEDDLE_AND,
  HEDDLE_OR,
  HEDDLE_XOR,
  HEDDLE_SWAP,
  HEDDLE_COMPARE_SWAP,
  HEDDLE_UNSIGNED_MIN,
  HEDDLE_UNSIGNED_MAX,
  HEDDLE_SIGNED_MIN,
  HEDDLE_SIGNED_MAX,
  HEDDLE_FLOAT_ADD /* a float or a double; `operand` has its bits, by heddle_bits_of_... */
} heddle_atomic_op;
static inline uint64_t heddle_bits_of_float(float value) {
  const union {
    float value;
    uint32_t bits;
  } as = {value};
  return as.bits;
}
static inline uint64_t heddle_bits_of_double(double value) {
  const union {
    double value;
    uint64_t bits;
  } as = {value};
  return as.bits;
}
/* On `width` bytes, 4 or 8. `old` is null, or where as many bytes of the old value go. For
 * HEDDLE_COMPARE_SWAP `operand` is what is desired, and `compare`, which stands behind it, what is
 * expected: heddle_try_compare_swap has them the usual way round. Also invalid: another width. */
heddle_status heddle_try_atomic(heddle_lane* lane, heddle_atomic_op op, unsigned width,
                                heddle_address at, uint64_t operand, uint64_t compare, void* old,
                                heddle_completion ended);
/* Stores `desired` where `expected` was found; it was where `*old` equals `expected`. Otherwise as
 * heddle_try_atomic. */
heddle_status heddle_try_compare_swap(heddle_lane* lane, unsigned width, heddle_address at,
                                      uint64_t expected, uint64_t desired, void* old,
                                      heddle_completion ended);
/* `how`: HEDDLE_ADD or HEDDLE_SWAP, on the 8 bytes at `word`. */
heddle_status heddle_try_put_signal(heddle_lane* lane, const void* from, size_t bytes,
                                    heddle_address to, heddle_atomic_op how, heddle_address word,
                                    uint64_t value, heddle_completion ended);

/* `to_lane`: HEDDLE_SAME_LANE, or the number of a lane of the peer. */
heddle_status heddle_try_send(heddle_lane* lane, heddle_rank to, int to_lane, heddle_tag tag,
                              const void* data, size_t bytes, heddle_completion ended);
/* Tags that agree with `tag` in every bit of `mask`. */
heddle_status heddle_try_recv(heddle_lane* lane, heddle_rank from, heddle_tag tag, uint64_t mask,
                              void* into, size_t bytes, heddle_completion ended);
heddle_status heddle_try_probe(heddle_lane* lane, heddle_rank from, heddle_tag tag, uint64_t mask,
                               heddle_outcome* out);
heddle_status heddle_try_cancel(heddle_lane* lane, heddle_completion which);

/* Null: no memory. */
heddle_matched* heddle_matched_new(void);
/* Drops the message that it holds. */
void heddle_matched_free(heddle_matched* matched);
bool heddle_matched_holds(const heddle_matched* matched);
heddle_outcome heddle_matched_what(const heddle_matched* matched);
void heddle_matched_drop(heddle_matched* matched);
/* `into` holds what `from` did, which is empty then; what it held before is dropped. */
void heddle_matched_move(heddle_matched* into, heddle_matched* from);
heddle_status heddle_try_probe_matched(heddle_lane* lane, heddle_rank from, heddle_tag tag,
                                       uint64_t mask, heddle_matched* out);
heddle_status heddle_try_match(heddle_lane* lane, heddle_rank from, heddle_tag tag, uint64_t mask,
                               heddle_matched* into, heddle_completion ended);
heddle_outcome heddle_match(heddle_lane* lane, heddle_rank from, heddle_tag tag, uint64_t mask,
                            heddle_matched* into);
heddle_status heddle_try_recv_matched(heddle_lane* lane, heddle_matched* matched, void* into,
                                      size_t bytes, heddle_completion ended);
heddle_outcome heddle_recv_matched(heddle_lane* lane, heddle_matched* matched, void* into,
                                   size_t bytes);

heddle_status heddle_try_call(heddle_lane* lane, heddle_rank to, int to_lane, uint16_t handler,
                              const void* header, size_t header_bytes, const void* payload,
                              size_t payload_bytes, heddle_completion ended);

/* The same, waiting until done. */
heddle_status heddle_put(heddle_lane* lane, const void* from, size_t bytes, heddle_address to);
heddle_status heddle_get(heddle_lane* lane, void* into, size_t bytes, heddle_address from);
heddle_status heddle_put_notify(heddle_lane* lane, const void* from, size_t bytes,
                                heddle_address to, uint16_t handler, uint64_t value);
heddle_status heddle_put_signal(heddle_lane* lane, const void* from, size_t bytes,
                                heddle_address to, heddle_atomic_op how, heddle_address word,
                                uint64_t value);
heddle_status heddle_atomic(heddle_lane* lane, heddle_atomic_op op, unsigned width,
                            heddle_address at, uint64_t operand, uint64_t compare, void* old);
heddle_status heddle_compare_swap(heddle_lane* lane, unsigned width, heddle_address at,
                                  uint64_t expected, uint64_t desired, void* old);
heddle_status heddle_send(heddle_lane* lane, heddle_rank to, int to_lane, heddle_tag tag,
                          const void* data, size_t bytes);
heddle_outcome heddle_recv(heddle_lane* lane, heddle_rank from, heddle_tag tag, uint64_t mask,
                           void* into, size_t bytes);
/* At most `limit_ns` nanoseconds: HEDDLE_TIMED_OUT, and the receive is taken back. */
heddle_outcome heddle_recv_for(heddle_lane* lane, heddle_rank from, heddle_tag tag, uint64_t mask,
                               void* into, size_t bytes, int64_t limit_ns);
heddle_outcome heddle_match_for(heddle_lane* lane, heddle_rank from, heddle_tag tag, uint64_t mask,
                                heddle_matched* into, int64_t limit_ns);
heddle_status heddle_call(heddle_lane* lane, heddle_rank to, int to_lane, uint16_t handler,
                          const void* header, size_t header_bytes, const void* payload,
                          size_t payload_bytes);

size_t heddle_poll(heddle_lane* lane);
heddle_status heddle_wait_flag(heddle_lane* lane, heddle_flag* flag);
heddle_status heddle_wait_counter(heddle_lane* lane, heddle_counter* counter, uint64_t target);
void heddle_wait_queue(heddle_lane* lane, heddle_queue* queue, uint64_t target);
/* False: `limit_ns` nanoseconds passed first. */
bool heddle_wait_flag_for(heddle_lane* lane, heddle_flag* flag, int64_t limit_ns);
bool heddle_wait_counter_for(heddle_lane* lane, heddle_counter* counter, uint64_t target,
                             int64_t limit_ns);
bool heddle_wait_queue_for(heddle_lane* lane, heddle_queue* queue, uint64_t target,
                           int64_t limit_ns);
/* Waits until `true_of(context, value)` for a word of `width` bytes, 1, 2, 4 or 8, of this rank's
 * memory that peers change. HEDDLE_FOR_EVER, or at most so long. False: that passed, the world has
 * ended, or another width. */
bool heddle_wait_until(heddle_lane* lane, const void* word, unsigned width,
                       bool (*true_of)(void* context, uint64_t value), void* context,
                       int64_t limit_ns);
void heddle_when_ready(heddle_lane* lane, heddle_completion ready);
/* HEDDLE_EVERYBODY, or of this peer. */
heddle_status heddle_try_flush(heddle_lane* lane, heddle_rank peer, heddle_completion ended);
heddle_status heddle_try_fence(heddle_lane* lane, heddle_rank peer, heddle_completion ended);
heddle_status heddle_flush(heddle_lane* lane, heddle_rank peer);
heddle_status heddle_fence(heddle_lane* lane, heddle_rank peer);
/* HEDDLE_TIMED_OUT when `limit_ns` nanoseconds passed first. */
heddle_status heddle_flush_for(heddle_lane* lane, heddle_rank peer, int64_t limit_ns);
heddle_status heddle_fence_for(heddle_lane* lane, heddle_rank peer, int64_t limit_ns);

/* NOLINTEND(modernize-*,readability-identifier-naming) */

#if defined(__cplusplus)
}
#endif

#include <heddle/c_blocks.h>
#include <heddle/c_collectives.h>
#include <heddle/c_observe.h>
#endif
