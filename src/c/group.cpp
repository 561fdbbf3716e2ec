// SPDX-License-Identifier: BSD-3-Clause
// group.cpp - c.h: groups, and operations of their members.
#include <new>

#include "c/collectives.h"

// NOLINTBEGIN(readability-function-size): C has neither spans nor defaults
namespace c = heddle::c;
using c::of;
using c::started;
using c::waiting;

struct heddle_group {
  heddle::group group;
};

namespace {

heddle::group& of(heddle_group* g) noexcept {
  return g->group;
}

}  // namespace

heddle_group* heddle_group_new(void) {
  return new (std::nothrow) heddle_group;
}
heddle_group* heddle_group_of(heddle_lane* lane) {
  return new (std::nothrow) heddle_group{heddle::group(of(lane))};
}
void heddle_group_free(heddle_group* group) {
  delete group;
}
heddle_rank heddle_group_self(const heddle_group* group) {
  return group->group.self();
}
int heddle_group_ranks(const heddle_group* group) {
  return group->group.ranks();
}
heddle_rank heddle_group_world_rank(const heddle_group* group, heddle_rank member) {
  return group->group.world_rank(member);
}
heddle_rank heddle_group_member(const heddle_group* group, heddle_rank world_rank) {
  return group->group.member(world_rank);
}
heddle_status heddle_split(heddle_group* parent, int color, int key, heddle_group* into) {
  return of(split(of(parent), color, key, of(into)));
}
heddle_status heddle_try_split(heddle_group* parent, int color, int key, heddle_group* into,
                               heddle_completion ended) {
  return of(try_split(of(parent), color, key, of(into), of(ended)));
}
heddle_status heddle_survivors(heddle_group* parent, heddle_group* into) {
  return of(survivors(of(parent), of(into)));
}
heddle_status heddle_try_survivors(heddle_group* parent, heddle_group* into,
                                   heddle_completion ended) {
  return of(try_survivors(of(parent), of(into), of(ended)));
}

heddle_status heddle_group_barrier(heddle_group* group) {
  return c::barrier(waiting{}, of(group));
}
heddle_status heddle_group_broadcast(heddle_group* group, void* data, size_t bytes,
                                     heddle_rank root) {
  return c::broadcast(waiting{}, of(group), data, bytes, root);
}
heddle_status heddle_group_reduce(heddle_group* group, const void* in, void* out, size_t items,
                                  heddle_type type, heddle_reduce_op op, heddle_rank root) {
  return c::reduce(waiting{}, of(group), in, out, items, c::reducer_of(type, op), root);
}
heddle_status heddle_group_allreduce(heddle_group* group, const void* in, void* out, size_t items,
                                     heddle_type type, heddle_reduce_op op) {
  return c::allreduce(waiting{}, of(group), in, out, items, c::reducer_of(type, op));
}
heddle_status heddle_group_reduce_by(heddle_group* group, const void* in, void* out, size_t items,
                                     size_t item_bytes, heddle_combine combine, void* context,
                                     heddle_rank root) {
  return c::reduce(waiting{}, of(group), in, out, items,
                   c::reducer_of(item_bytes, combine, context), root);
}
heddle_status heddle_group_allreduce_by(heddle_group* group, const void* in, void* out,
                                        size_t items, size_t item_bytes, heddle_combine combine,
                                        void* context) {
  return c::allreduce(waiting{}, of(group), in, out, items,
                      c::reducer_of(item_bytes, combine, context));
}
heddle_status heddle_group_scan(heddle_group* group, const void* in, void* out, size_t items,
                                heddle_type type, heddle_reduce_op op) {
  return c::scan(waiting{}, of(group), in, out, items, c::reducer_of(type, op));
}
heddle_status heddle_group_exclusive_scan(heddle_group* group, const void* in, void* out,
                                          size_t items, heddle_type type, heddle_reduce_op op) {
  return c::exclusive_scan(waiting{}, of(group), in, out, items, c::reducer_of(type, op));
}
heddle_status heddle_group_reduce_scatter(heddle_group* group, const void* in, void* out,
                                          size_t items, heddle_type type, heddle_reduce_op op) {
  return c::reduce_scatter(waiting{}, of(group), in, out, items, c::reducer_of(type, op));
}
heddle_status heddle_group_gather(heddle_group* group, const void* in, void* out, size_t bytes,
                                  heddle_rank root) {
  return c::gather(waiting{}, of(group), in, out, bytes, root);
}
heddle_status heddle_group_scatter(heddle_group* group, const void* in, void* out, size_t bytes,
                                   heddle_rank root) {
  return c::scatter(waiting{}, of(group), in, out, bytes, root);
}
heddle_status heddle_group_allgather(heddle_group* group, const void* in, void* out, size_t bytes) {
  return c::allgather(waiting{}, of(group), in, out, bytes);
}
heddle_status heddle_group_alltoall(heddle_group* group, const void* in, void* out, size_t bytes) {
  return c::alltoall(waiting{}, of(group), in, out, bytes);
}
heddle_status heddle_group_gatherv(heddle_group* group, const void* in, size_t in_bytes, void* out,
                                   const size_t* bytes, heddle_rank root) {
  return c::gatherv(waiting{}, of(group), in, in_bytes, out, bytes, root);
}
heddle_status heddle_group_scatterv(heddle_group* group, const void* in, const size_t* bytes,
                                    void* out, size_t out_bytes, heddle_rank root) {
  return c::scatterv(waiting{}, of(group), in, bytes, out, out_bytes, root);
}
heddle_status heddle_group_allgatherv(heddle_group* group, const void* in, size_t in_bytes,
                                      void* out, const size_t* bytes) {
  return c::allgatherv(waiting{}, of(group), in, in_bytes, out, bytes);
}
heddle_status heddle_group_alltoallv(heddle_group* group, const void* in, const size_t* in_bytes,
                                     void* out, const size_t* out_bytes) {
  return c::alltoallv(waiting{}, of(group), in, in_bytes, out, out_bytes);
}

heddle_status heddle_group_try_barrier(heddle_group* group, heddle_completion ended) {
  return c::barrier(started{ended}, of(group));
}
heddle_status heddle_group_try_broadcast(heddle_group* group, void* data, size_t bytes,
                                         heddle_rank root, heddle_completion ended) {
  return c::broadcast(started{ended}, of(group), data, bytes, root);
}
heddle_status heddle_group_try_reduce(heddle_group* group, const void* in, void* out, size_t items,
                                      heddle_type type, heddle_reduce_op op, heddle_rank root,
                                      heddle_completion ended) {
  return c::reduce(started{ended}, of(group), in, out, items, c::reducer_of(type, op), root);
}
heddle_status heddle_group_try_allreduce(heddle_group* group, const void* in, void* out,
                                         size_t items, heddle_type type, heddle_reduce_op op,
                                         heddle_completion ended) {
  return c::allreduce(started{ended}, of(group), in, out, items, c::reducer_of(type, op));
}
heddle_status heddle_group_try_scan(heddle_group* group, const void* in, void* out, size_t items,
                                    heddle_type type, heddle_reduce_op op,
                                    heddle_completion ended) {
  return c::scan(started{ended}, of(group), in, out, items, c::reducer_of(type, op));
}
heddle_status heddle_group_try_exclusive_scan(heddle_group* group, const void* in, void* out,
                                              size_t items, heddle_type type, heddle_reduce_op op,
                                              heddle_completion ended) {
  return c::exclusive_scan(started{ended}, of(group), in, out, items, c::reducer_of(type, op));
}
heddle_status heddle_group_try_reduce_scatter(heddle_group* group, const void* in, void* out,
                                              size_t items, heddle_type type, heddle_reduce_op op,
                                              heddle_completion ended) {
  return c::reduce_scatter(started{ended}, of(group), in, out, items, c::reducer_of(type, op));
}
heddle_status heddle_group_try_gather(heddle_group* group, const void* in, void* out, size_t bytes,
                                      heddle_rank root, heddle_completion ended) {
  return c::gather(started{ended}, of(group), in, out, bytes, root);
}
heddle_status heddle_group_try_scatter(heddle_group* group, const void* in, void* out, size_t bytes,
                                       heddle_rank root, heddle_completion ended) {
  return c::scatter(started{ended}, of(group), in, out, bytes, root);
}
heddle_status heddle_group_try_allgather(heddle_group* group, const void* in, void* out,
                                         size_t bytes, heddle_completion ended) {
  return c::allgather(started{ended}, of(group), in, out, bytes);
}
heddle_status heddle_group_try_alltoall(heddle_group* group, const void* in, void* out,
                                        size_t bytes, heddle_completion ended) {
  return c::alltoall(started{ended}, of(group), in, out, bytes);
}
heddle_status heddle_group_try_gatherv(heddle_group* group, const void* in, size_t in_bytes,
                                       void* out, const size_t* bytes, heddle_rank root,
                                       heddle_completion ended) {
  return c::gatherv(started{ended}, of(group), in, in_bytes, out, bytes, root);
}
heddle_status heddle_group_try_scatterv(heddle_group* group, const void* in, const size_t* bytes,
                                        void* out, size_t out_bytes, heddle_rank root,
                                        heddle_completion ended) {
  return c::scatterv(started{ended}, of(group), in, bytes, out, out_bytes, root);
}
heddle_status heddle_group_try_allgatherv(heddle_group* group, const void* in, size_t in_bytes,
                                          void* out, const size_t* bytes, heddle_completion ended) {
  return c::allgatherv(started{ended}, of(group), in, in_bytes, out, bytes);
}
heddle_status heddle_group_try_alltoallv(heddle_group* group, const void* in,
                                         const size_t* in_bytes, void* out, const size_t* out_bytes,
                                         heddle_completion ended) {
  return c::alltoallv(started{ended}, of(group), in, in_bytes, out, out_bytes);
}
// NOLINTEND(readability-function-size)
