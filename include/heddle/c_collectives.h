/* SPDX-License-Identifier: BSD-3-Clause */
/* c_collectives.h - collectives and groups in C: a part of c.h, which includes it. */
#ifndef HEDDLE_C_COLLECTIVES_H
#define HEDDLE_C_COLLECTIVES_H
#include <heddle/c.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* NOLINTBEGIN(modernize-*,readability-identifier-naming): in C */

/* --- collectives (collectives.h) -------------------------------------------------------------- */

typedef enum heddle_type {
  HEDDLE_INT8,
  HEDDLE_INT16,
  HEDDLE_INT32,
  HEDDLE_INT64,
  HEDDLE_UINT8,
  HEDDLE_UINT16,
  HEDDLE_UINT32,
  HEDDLE_UINT64,
  HEDDLE_FLOAT,
  HEDDLE_DOUBLE
} heddle_type;
typedef enum heddle_reduce_op {
  HEDDLE_SUM,
  HEDDLE_MIN,
  HEDDLE_MAX,
  HEDDLE_PROD,
  HEDDLE_BIT_AND,
  HEDDLE_BIT_OR,
  HEDDLE_BIT_XOR
} heddle_reduce_op;

/* `bytes` of a gather, allgather or alltoall are those of one rank's block, `items` of a reduction
 * those of the whole vector. Also invalid: an unknown type or operation. */
heddle_status heddle_barrier(heddle_lane* lane);
heddle_status heddle_broadcast(heddle_lane* lane, void* data, size_t bytes, heddle_rank root);
heddle_status heddle_reduce(heddle_lane* lane, const void* in, void* out, size_t items,
                            heddle_type type, heddle_reduce_op op, heddle_rank root);
heddle_status heddle_allreduce(heddle_lane* lane, const void* in, void* out, size_t items,
                               heddle_type type, heddle_reduce_op op);
heddle_status heddle_gather(heddle_lane* lane, const void* in, void* out, size_t bytes,
                            heddle_rank root);
heddle_status heddle_allgather(heddle_lane* lane, const void* in, void* out, size_t bytes);
heddle_status heddle_alltoall(heddle_lane* lane, const void* in, void* out, size_t bytes);

/* With an operation of one's own on items of `item_bytes`, which must be commutative and
 * associative: into[i] = into[i] op from[i] for `items` of them, aligned as `in` and `out` are, at
 * most as malloc does. It runs on whatever thread drives the lane, until the collective has ended
 * here; it must neither call Heddle nor block. Also invalid: no `combine`, or no bytes. */
typedef void (*heddle_combine)(void* context, void* into, const void* from, size_t items);
heddle_status heddle_reduce_by(heddle_lane* lane, const void* in, void* out, size_t items,
                               size_t item_bytes, heddle_combine combine, void* context,
                               heddle_rank root);
heddle_status heddle_allreduce_by(heddle_lane* lane, const void* in, void* out, size_t items,
                                  size_t item_bytes, heddle_combine combine, void* context);

heddle_status heddle_try_barrier(heddle_lane* lane, heddle_completion ended);
heddle_status heddle_try_broadcast(heddle_lane* lane, void* data, size_t bytes, heddle_rank root,
                                   heddle_completion ended);
heddle_status heddle_try_reduce(heddle_lane* lane, const void* in, void* out, size_t items,
                                heddle_type type, heddle_reduce_op op, heddle_rank root,
                                heddle_completion ended);
heddle_status heddle_try_allreduce(heddle_lane* lane, const void* in, void* out, size_t items,
                                   heddle_type type, heddle_reduce_op op, heddle_completion ended);
heddle_status heddle_try_gather(heddle_lane* lane, const void* in, void* out, size_t bytes,
                                heddle_rank root, heddle_completion ended);
heddle_status heddle_try_allgather(heddle_lane* lane, const void* in, void* out, size_t bytes,
                                   heddle_completion ended);
heddle_status heddle_try_alltoall(heddle_lane* lane, const void* in, void* out, size_t bytes,
                                  heddle_completion ended);

/* --- groups (group.h), and collectives of theirs ---------------------------------------------- */

typedef struct heddle_group heddle_group;
#define HEDDLE_NO_COLOR (-1)

/* Of nobody, to become one by heddle_split or heddle_survivors; of all ranks of the lane. Null: no
 * memory. */
heddle_group* heddle_group_new(void);
heddle_group* heddle_group_of(heddle_lane* lane);
void heddle_group_free(heddle_group* group);
heddle_rank heddle_group_self(const heddle_group* group);
int heddle_group_ranks(const heddle_group* group);
heddle_rank heddle_group_world_rank(const heddle_group* group, heddle_rank member);
heddle_rank heddle_group_member(const heddle_group* group, heddle_rank world_rank);
heddle_status heddle_split(heddle_group* parent, int color, int key, heddle_group* into);
heddle_status heddle_try_split(heddle_group* parent, int color, int key, heddle_group* into,
                               heddle_completion ended);
heddle_status heddle_survivors(heddle_group* parent, heddle_group* into);
heddle_status heddle_try_survivors(heddle_group* parent, heddle_group* into,
                                   heddle_completion ended);

/* `bytes` and `items` as above; those of a scatter or reduce_scatter are of one rank's block. The
 * arrays of bytes have one for each rank of the group; where a root is named, it alone uses them.
 */
heddle_status heddle_group_barrier(heddle_group* group);
heddle_status heddle_group_broadcast(heddle_group* group, void* data, size_t bytes,
                                     heddle_rank root);
heddle_status heddle_group_reduce(heddle_group* group, const void* in, void* out, size_t items,
                                  heddle_type type, heddle_reduce_op op, heddle_rank root);
heddle_status heddle_group_allreduce(heddle_group* group, const void* in, void* out, size_t items,
                                     heddle_type type, heddle_reduce_op op);
heddle_status heddle_group_reduce_by(heddle_group* group, const void* in, void* out, size_t items,
                                     size_t item_bytes, heddle_combine combine, void* context,
                                     heddle_rank root);
heddle_status heddle_group_allreduce_by(heddle_group* group, const void* in, void* out,
                                        size_t items, size_t item_bytes, heddle_combine combine,
                                        void* context);
heddle_status heddle_group_scan(heddle_group* group, const void* in, void* out, size_t items,
                                heddle_type type, heddle_reduce_op op);
heddle_status heddle_group_exclusive_scan(heddle_group* group, const void* in, void* out,
                                          size_t items, heddle_type type, heddle_reduce_op op);
heddle_status heddle_group_reduce_scatter(heddle_group* group, const void* in, void* out,
                                          size_t items, heddle_type type, heddle_reduce_op op);
heddle_status heddle_group_gather(heddle_group* group, const void* in, void* out, size_t bytes,
                                  heddle_rank root);
heddle_status heddle_group_scatter(heddle_group* group, const void* in, void* out, size_t bytes,
                                   heddle_rank root);
heddle_status heddle_group_allgather(heddle_group* group, const void* in, void* out, size_t bytes);
heddle_status heddle_group_alltoall(heddle_group* group, const void* in, void* out, size_t bytes);
heddle_status heddle_group_gatherv(heddle_group* group, const void* in, size_t in_bytes, void* out,
                                   const size_t* bytes, heddle_rank root);
heddle_status heddle_group_scatterv(heddle_group* group, const void* in, const size_t* bytes,
                                    void* out, size_t out_bytes, heddle_rank root);
heddle_status heddle_group_allgatherv(heddle_group* group, const void* in, size_t in_bytes,
                                      void* out, const size_t* bytes);
heddle_status heddle_group_alltoallv(heddle_group* group, const void* in, const size_t* in_bytes,
                                     void* out, const size_t* out_bytes);

heddle_status heddle_group_try_barrier(heddle_group* group, heddle_completion ended);
heddle_status heddle_group_try_broadcast(heddle_group* group, void* data, size_t bytes,
                                         heddle_rank root, heddle_completion ended);
heddle_status heddle_group_try_reduce(heddle_group* group, const void* in, void* out, size_t items,
                                      heddle_type type, heddle_reduce_op op, heddle_rank root,
                                      heddle_completion ended);
heddle_status heddle_group_try_allreduce(heddle_group* group, const void* in, void* out,
                                         size_t items, heddle_type type, heddle_reduce_op op,
                                         heddle_completion ended);
heddle_status heddle_group_try_scan(heddle_group* group, const void* in, void* out, size_t items,
                                    heddle_type type, heddle_reduce_op op, heddle_completion ended);
heddle_status heddle_group_try_exclusive_scan(heddle_group* group, const void* in, void* out,
                                              size_t items, heddle_type type, heddle_reduce_op op,
                                              heddle_completion ended);
heddle_status heddle_group_try_reduce_scatter(heddle_group* group, const void* in, void* out,
                                              size_t items, heddle_type type, heddle_reduce_op op,
                                              heddle_completion ended);
heddle_status heddle_group_try_gather(heddle_group* group, const void* in, void* out, size_t bytes,
                                      heddle_rank root, heddle_completion ended);
heddle_status heddle_group_try_scatter(heddle_group* group, const void* in, void* out, size_t bytes,
                                       heddle_rank root, heddle_completion ended);
heddle_status heddle_group_try_allgather(heddle_group* group, const void* in, void* out,
                                         size_t bytes, heddle_completion ended);
heddle_status heddle_group_try_alltoall(heddle_group* group, const void* in, void* out,
                                        size_t bytes, heddle_completion ended);
heddle_status heddle_group_try_gatherv(heddle_group* group, const void* in, size_t in_bytes,
                                       void* out, const size_t* bytes, heddle_rank root,
                                       heddle_completion ended);
heddle_status heddle_group_try_scatterv(heddle_group* group, const void* in, const size_t* bytes,
                                        void* out, size_t out_bytes, heddle_rank root,
                                        heddle_completion ended);
heddle_status heddle_group_try_allgatherv(heddle_group* group, const void* in, size_t in_bytes,
                                          void* out, const size_t* bytes, heddle_completion ended);
heddle_status heddle_group_try_alltoallv(heddle_group* group, const void* in,
                                         const size_t* in_bytes, void* out, const size_t* out_bytes,
                                         heddle_completion ended);

/* NOLINTEND(modernize-*,readability-identifier-naming) */

#if defined(__cplusplus)
}
#endif
#endif
