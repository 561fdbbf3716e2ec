// collectives.cpp - the public collectives: the algorithms on a real lane.
#include <heddle/collectives.h>

#include "collectives/allgather.h"
#include "collectives/allreduce.h"
#include "collectives/alltoall.h"
#include "collectives/barrier.h"
#include "collectives/broadcast.h"
#include "collectives/gather.h"
#include "collectives/reduce.h"

namespace heddle {

task<status> barrier(async_lane on) {
  return collectives::barrier(on);
}

namespace detail {

task<status> broadcast(async_lane on, bytes data, rank root) {
  return collectives::broadcast(on, data, root);
}
task<status> reduce(async_lane on, const_bytes in, bytes out, reducer op, rank root) {
  return collectives::reduce(on, in, out, op, root);
}
task<status> allreduce(async_lane on, const_bytes in, bytes out, reducer op) {
  return collectives::allreduce(on, in, out, op);
}
task<status> gather(async_lane on, const_bytes in, bytes out, rank root) {
  return collectives::gather(on, in, out, root);
}
task<status> allgather(async_lane on, const_bytes in, bytes out) {
  return collectives::allgather(on, in, out);
}
task<status> alltoall(async_lane on, const_bytes in, bytes out) {
  return collectives::alltoall(on, in, out);
}

status finish(lane& on, task<status> work) noexcept {
  flag ended;
  spawn(std::move(work), ended);
  return on.wait(ended);
}

status launch(task<status> work, completion ended) noexcept {
  spawn(std::move(work), ended);
  return status::posted;
}

}  // namespace detail
}  // namespace heddle
