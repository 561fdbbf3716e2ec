// SPDX-License-Identifier: BSD-3-Clause
// collectives.cpp - c.h: operations of all ranks.
#include "c/collectives.h"

// NOLINTBEGIN(readability-function-size): C has neither spans nor defaults
namespace c = heddle::c;
using c::of;
using c::started;
using c::waiting;

heddle_status heddle_barrier(heddle_lane* lane) {
  return c::barrier(waiting{}, of(lane));
}
heddle_status heddle_broadcast(heddle_lane* lane, void* data, size_t bytes, heddle_rank root) {
  return c::broadcast(waiting{}, of(lane), data, bytes, root);
}
heddle_status heddle_reduce(heddle_lane* lane, const void* in, void* out, size_t items,
                            heddle_type type, heddle_reduce_op op, heddle_rank root) {
  return c::reduce(waiting{}, of(lane), in, out, items, c::reducer_of(type, op), root);
}
heddle_status heddle_allreduce(heddle_lane* lane, const void* in, void* out, size_t items,
                               heddle_type type, heddle_reduce_op op) {
  return c::allreduce(waiting{}, of(lane), in, out, items, c::reducer_of(type, op));
}
heddle_status heddle_gather(heddle_lane* lane, const void* in, void* out, size_t bytes,
                            heddle_rank root) {
  return c::gather(waiting{}, of(lane), in, out, bytes, root);
}
heddle_status heddle_allgather(heddle_lane* lane, const void* in, void* out, size_t bytes) {
  return c::allgather(waiting{}, of(lane), in, out, bytes);
}
heddle_status heddle_alltoall(heddle_lane* lane, const void* in, void* out, size_t bytes) {
  return c::alltoall(waiting{}, of(lane), in, out, bytes);
}
heddle_status heddle_reduce_by(heddle_lane* lane, const void* in, void* out, size_t items,
                               size_t item_bytes, heddle_combine combine, void* context,
                               heddle_rank root) {
  return c::reduce(waiting{}, of(lane), in, out, items, c::reducer_of(item_bytes, combine, context),
                   root);
}
heddle_status heddle_allreduce_by(heddle_lane* lane, const void* in, void* out, size_t items,
                                  size_t item_bytes, heddle_combine combine, void* context) {
  return c::allreduce(waiting{}, of(lane), in, out, items,
                      c::reducer_of(item_bytes, combine, context));
}

heddle_status heddle_try_barrier(heddle_lane* lane, heddle_completion ended) {
  return c::barrier(started{ended}, of(lane));
}
heddle_status heddle_try_broadcast(heddle_lane* lane, void* data, size_t bytes, heddle_rank root,
                                   heddle_completion ended) {
  return c::broadcast(started{ended}, of(lane), data, bytes, root);
}
heddle_status heddle_try_reduce(heddle_lane* lane, const void* in, void* out, size_t items,
                                heddle_type type, heddle_reduce_op op, heddle_rank root,
                                heddle_completion ended) {
  return c::reduce(started{ended}, of(lane), in, out, items, c::reducer_of(type, op), root);
}
heddle_status heddle_try_allreduce(heddle_lane* lane, const void* in, void* out, size_t items,
                                   heddle_type type, heddle_reduce_op op, heddle_completion ended) {
  return c::allreduce(started{ended}, of(lane), in, out, items, c::reducer_of(type, op));
}
heddle_status heddle_try_gather(heddle_lane* lane, const void* in, void* out, size_t bytes,
                                heddle_rank root, heddle_completion ended) {
  return c::gather(started{ended}, of(lane), in, out, bytes, root);
}
heddle_status heddle_try_allgather(heddle_lane* lane, const void* in, void* out, size_t bytes,
                                   heddle_completion ended) {
  return c::allgather(started{ended}, of(lane), in, out, bytes);
}
heddle_status heddle_try_alltoall(heddle_lane* lane, const void* in, void* out, size_t bytes,
                                  heddle_completion ended) {
  return c::alltoall(started{ended}, of(lane), in, out, bytes);
}
// NOLINTEND(readability-function-size)
