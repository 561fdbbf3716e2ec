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

/* NOLINTEND(modernize-*,readability-identifier-naming) */

#if defined(__cplusplus)
}
#endif
#endif
