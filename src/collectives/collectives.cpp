// SPDX-License-Identifier: BSD-3-Clause
// collectives.cpp - the public collectives, and how groups come into being: the algorithms on a
// real lane. In one file, because split uses allgather: GCC holds the frames of a coroutine that is
// compiled twice for two types.
#include <heddle/collectives.h>
#include <heddle/group.h>

#include <memory>
#include <utility>

#include "collectives/allgather.h"
#include "collectives/allreduce.h"
#include "collectives/alltoall.h"
#include "collectives/alltoallv.h"
#include "collectives/barrier.h"
#include "collectives/broadcast.h"
#include "collectives/gather.h"
#include "collectives/gatherv.h"
#include "collectives/reduce.h"
#include "collectives/reduce_scatter.h"
#include "collectives/scan.h"
#include "collectives/scatter.h"
#include "collectives/split.h"
#include "collectives/survivors.h"

namespace heddle {
namespace {

/// A group of nobody can do nothing.
task<status> refused() {
  co_return status::invalid;
}
bool is_nobody(async_group g) noexcept {
  return g.on() == nullptr;
}
group made(async_group parent, std::unique_ptr<detail::membership> members) noexcept {
  return members == nullptr ? group() : group(*parent.on(), std::move(members));
}

}  // namespace

task<status> barrier(async_group on) {
  return is_nobody(on) ? refused() : collectives::barrier(on);
}

namespace detail {

task<status> broadcast(async_group on, bytes data, rank root) {
  return is_nobody(on) ? refused() : collectives::broadcast(on, data, root);
}
task<status> reduce(async_group on, const_bytes in, bytes out, reducer op, rank root) {
  return is_nobody(on) ? refused() : collectives::reduce(on, in, out, op, root);
}
task<status> allreduce(async_group on, const_bytes in, bytes out, reducer op) {
  return is_nobody(on) ? refused() : collectives::allreduce(on, in, out, op);
}
task<status> gather(async_group on, const_bytes in, bytes out, rank root) {
  return is_nobody(on) ? refused() : collectives::gather(on, in, out, root);
}
task<status> allgather(async_group on, const_bytes in, bytes out) {
  return is_nobody(on) ? refused() : collectives::allgather(on, in, out);
}
task<status> alltoall(async_group on, const_bytes in, bytes out) {
  return is_nobody(on) ? refused() : collectives::alltoall(on, in, out);
}
task<status> scatter(async_group on, const_bytes in, bytes out, rank root) {
  return is_nobody(on) ? refused() : collectives::scatter(on, in, out, root);
}
task<status> scan(async_group on, const_bytes in, bytes out, reducer op) {
  return is_nobody(on) ? refused()
                       : collectives::scan(on, in, out, op, collectives::scan_kind::inclusive);
}
task<status> exclusive_scan(async_group on, const_bytes in, bytes out, reducer op) {
  return is_nobody(on) ? refused()
                       : collectives::scan(on, in, out, op, collectives::scan_kind::exclusive);
}
task<status> reduce_scatter(async_group on, const_bytes in, bytes out, reducer op) {
  return is_nobody(on) ? refused() : collectives::reduce_scatter(on, in, out, op);
}
task<status> gatherv(async_group on, const_bytes in, bytes out, part_counts counts, rank root) {
  return is_nobody(on) ? refused() : collectives::gatherv(on, in, out, counts, root);
}
task<status> scatterv(async_group on, const_bytes in, part_counts counts, bytes out, rank root) {
  return is_nobody(on) ? refused() : collectives::scatterv(on, in, counts, out, root);
}
task<status> allgatherv(async_group on, const_bytes in, bytes out, part_counts counts) {
  return is_nobody(on) ? refused() : collectives::allgatherv(on, in, out, counts);
}
task<status> alltoallv(async_group on, const_bytes in, part_counts in_counts, bytes out,
                       part_counts out_counts) {
  return is_nobody(on) ? refused() : collectives::alltoallv(on, in, in_counts, out, out_counts);
}

status finish(any_group on, task<status> work) noexcept {
  flag ended;
  spawn(std::move(work), ended);
  return on.on() != nullptr ? on.on()->wait(ended) : ended.result().code;
}

status launch(task<status> work, completion ended) noexcept {
  spawn(std::move(work), ended);
  return status::posted;
}

}  // namespace detail

task<status> split(async_group parent, int color, int key, group& into) {
  if (parent.on() == nullptr) co_return status::invalid;
  std::unique_ptr<detail::membership> members;
  const status ended = co_await collectives::split(parent, color, key, members);
  if (ended == status::done) into = made(parent, std::move(members));
  co_return ended;
}
status split(any_group parent, int color, int key, group& into) noexcept {
  return detail::finish(parent, split(async_group(parent), color, key, into));
}
status try_split(any_group parent, int color, int key, group& into, completion ended) noexcept {
  return detail::launch(split(async_group(parent), color, key, into), ended);
}

task<status> survivors(async_group parent, group& into) {
  if (parent.on() == nullptr) co_return status::invalid;
  std::unique_ptr<detail::membership> members;
  const status ended = co_await collectives::survivors(parent, members);
  if (ended == status::done) into = made(parent, std::move(members));
  co_return ended;
}
status survivors(any_group parent, group& into) noexcept {
  return detail::finish(parent, survivors(async_group(parent), into));
}
status try_survivors(any_group parent, group& into, completion ended) noexcept {
  return detail::launch(survivors(async_group(parent), into), ended);
}

}  // namespace heddle
