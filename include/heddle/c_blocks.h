/* SPDX-License-Identifier: BSD-3-Clause */
/* c_blocks.h - operations on many blocks in C: a part of c.h, which includes it. */
#ifndef HEDDLE_C_BLOCKS_H
#define HEDDLE_C_BLOCKS_H
#include <heddle/c.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* NOLINTBEGIN(modernize-*,readability-identifier-naming): in C */

/* --- many blocks (blocks.h) ------------------------------------------------------------------- */

typedef struct heddle_put_block {
  const void* from;
  size_t bytes;
  heddle_address to;
} heddle_put_block;
typedef struct heddle_get_block {
  void* into;
  size_t bytes;
  heddle_address from;
} heddle_get_block;
/* A block of a message that leaves, and of one that comes. */
typedef struct heddle_send_block {
  const void* from;
  size_t bytes;
} heddle_send_block;
typedef struct heddle_recv_block {
  void* into;
  size_t bytes;
} heddle_recv_block;
typedef struct heddle_stride {
  size_t count;
  ptrdiff_t here, there;
} heddle_stride;

heddle_status heddle_try_put_blocks(heddle_lane* lane, const heddle_put_block* blocks, size_t count,
                                    heddle_completion ended);
heddle_status heddle_try_get_blocks(heddle_lane* lane, const heddle_get_block* blocks, size_t count,
                                    heddle_completion ended);
heddle_status heddle_try_put_grid(heddle_lane* lane, const void* first, size_t bytes,
                                  heddle_address to, const heddle_stride* strides, size_t count,
                                  heddle_completion ended);
heddle_status heddle_try_get_grid(heddle_lane* lane, void* first, size_t bytes, heddle_address from,
                                  const heddle_stride* strides, size_t count,
                                  heddle_completion ended);
heddle_status heddle_put_blocks(heddle_lane* lane, const heddle_put_block* blocks, size_t count);
heddle_status heddle_get_blocks(heddle_lane* lane, const heddle_get_block* blocks, size_t count);
heddle_status heddle_put_grid(heddle_lane* lane, const void* first, size_t bytes, heddle_address to,
                              const heddle_stride* strides, size_t count);
heddle_status heddle_get_grid(heddle_lane* lane, void* first, size_t bytes, heddle_address from,
                              const heddle_stride* strides, size_t count);

/* Messages: gathered from blocks, which may be reused on return, whatever the answer is; scattered
 * into blocks in turn, of which the list may be reused on return, and what it names at the end.
 * Also HEDDLE_NO_MEMORY. */
heddle_status heddle_try_send_blocks(heddle_lane* lane, heddle_rank to, int to_lane, heddle_tag tag,
                                     const heddle_send_block* blocks, size_t count,
                                     heddle_completion ended);
heddle_status heddle_try_call_blocks(heddle_lane* lane, heddle_rank to, int to_lane,
                                     uint16_t handler, const void* header, size_t header_bytes,
                                     const heddle_send_block* payload, size_t count,
                                     heddle_completion ended);
heddle_status heddle_try_recv_blocks(heddle_lane* lane, heddle_rank from, heddle_tag tag,
                                     uint64_t mask, const heddle_recv_block* blocks, size_t count,
                                     heddle_completion ended);
heddle_status heddle_send_blocks(heddle_lane* lane, heddle_rank to, int to_lane, heddle_tag tag,
                                 const heddle_send_block* blocks, size_t count);
heddle_status heddle_call_blocks(heddle_lane* lane, heddle_rank to, int to_lane, uint16_t handler,
                                 const void* header, size_t header_bytes,
                                 const heddle_send_block* payload, size_t count);
heddle_outcome heddle_recv_blocks(heddle_lane* lane, heddle_rank from, heddle_tag tag,
                                  uint64_t mask, const heddle_recv_block* blocks, size_t count);
/* HEDDLE_TIMED_OUT when `limit_ns` nanoseconds passed first, and the receive is taken back. */
heddle_outcome heddle_recv_blocks_for(heddle_lane* lane, heddle_rank from, heddle_tag tag,
                                      uint64_t mask, const heddle_recv_block* blocks, size_t count,
                                      int64_t limit_ns);

/* NOLINTEND(modernize-*,readability-identifier-naming) */

#if defined(__cplusplus)
}
#endif
#endif
