// collectives.cpp - c.h: operations of all ranks.
#include <cstdint>
#include <utility>

#include "c/convert.h"

// NOLINTBEGIN(readability-function-size): C has neither spans nor defaults
using heddle::async_lane;
using heddle::reduce_op;
using heddle::c::bytes_of;
using heddle::c::of;
using heddle::detail::reducer;
using heddle::detail::reducer_for;

namespace {

/// item_bytes 0: there is no such type, or operation.
reducer reducer_of(heddle_type type, heddle_reduce_op op) noexcept {
  if (op < HEDDLE_SUM || op > HEDDLE_BIT_XOR) return {};
  const auto o = static_cast<reduce_op>(op);
  switch (type) {
    case HEDDLE_INT8:
      return reducer_for<std::int8_t>(o);
    case HEDDLE_INT16:
      return reducer_for<std::int16_t>(o);
    case HEDDLE_INT32:
      return reducer_for<std::int32_t>(o);
    case HEDDLE_INT64:
      return reducer_for<std::int64_t>(o);
    case HEDDLE_UINT8:
      return reducer_for<std::uint8_t>(o);
    case HEDDLE_UINT16:
      return reducer_for<std::uint16_t>(o);
    case HEDDLE_UINT32:
      return reducer_for<std::uint32_t>(o);
    case HEDDLE_UINT64:
      return reducer_for<std::uint64_t>(o);
    case HEDDLE_FLOAT:
      return reducer_for<float>(o);
    case HEDDLE_DOUBLE:
      return reducer_for<double>(o);
  }
  return {};
}

/// How `work(async_lane)` goes on a lane: waited for, or started.
struct waiting {
  template <class F>
  static heddle_status run(heddle_lane* lane, F&& work) {
    return of(heddle::detail::finish(of(lane), work(async_lane(of(lane)))));
  }
};
struct started {
  heddle_completion ended;
  template <class F>
  heddle_status run(heddle_lane* lane, F&& work) const {
    return of(heddle::detail::launch(work(async_lane(of(lane))), of(ended)));
  }
};

std::size_t all(heddle_lane* lane, std::size_t bytes) noexcept {
  return bytes * static_cast<std::size_t>(of(lane).ranks());
}
/// A buffer that only the root has.
std::span<std::byte> at_root(heddle_lane* lane, heddle_rank root, void* out,
                             std::size_t bytes) noexcept {
  return of(lane).self() == root ? bytes_of(out, bytes) : std::span<std::byte>();
}

template <class How>
heddle_status barrier(How how, heddle_lane* lane) {
  return how.run(lane, [](async_lane on) { return heddle::barrier(on); });
}
template <class How>
heddle_status broadcast(How how, heddle_lane* lane, void* data, size_t bytes, heddle_rank root) {
  return how.run(lane, [=](async_lane on) {
    return heddle::detail::broadcast(on, bytes_of(data, bytes), root);
  });
}
template <class How>
heddle_status reduce(How how, heddle_lane* lane, const void* in, void* out, size_t items,
                     heddle_type type, heddle_reduce_op op, heddle_rank root) {
  const reducer r = reducer_of(type, op);
  if (r.item_bytes == 0) return HEDDLE_INVALID;
  const std::size_t bytes = items * r.item_bytes;
  return how.run(lane, [=](async_lane on) {
    return heddle::detail::reduce(on, bytes_of(in, bytes), at_root(lane, root, out, bytes), r,
                                  root);
  });
}
template <class How>
heddle_status allreduce(How how, heddle_lane* lane, const void* in, void* out, size_t items,
                        heddle_type type, heddle_reduce_op op) {
  const reducer r = reducer_of(type, op);
  if (r.item_bytes == 0) return HEDDLE_INVALID;
  const std::size_t bytes = items * r.item_bytes;
  return how.run(lane, [=](async_lane on) {
    return heddle::detail::allreduce(on, bytes_of(in, bytes), bytes_of(out, bytes), r);
  });
}
template <class How>
heddle_status gather(How how, heddle_lane* lane, const void* in, void* out, size_t bytes,
                     heddle_rank root) {
  return how.run(lane, [=](async_lane on) {
    return heddle::detail::gather(on, bytes_of(in, bytes),
                                  at_root(lane, root, out, all(lane, bytes)), root);
  });
}
template <class How>
heddle_status allgather(How how, heddle_lane* lane, const void* in, void* out, size_t bytes) {
  return how.run(lane, [=](async_lane on) {
    return heddle::detail::allgather(on, bytes_of(in, bytes), bytes_of(out, all(lane, bytes)));
  });
}
template <class How>
heddle_status alltoall(How how, heddle_lane* lane, const void* in, void* out, size_t bytes) {
  return how.run(lane, [=](async_lane on) {
    return heddle::detail::alltoall(on, bytes_of(in, all(lane, bytes)),
                                    bytes_of(out, all(lane, bytes)));
  });
}

}  // namespace

heddle_status heddle_barrier(heddle_lane* lane) {
  return barrier(waiting{}, lane);
}
heddle_status heddle_broadcast(heddle_lane* lane, void* data, size_t bytes, heddle_rank root) {
  return broadcast(waiting{}, lane, data, bytes, root);
}
heddle_status heddle_reduce(heddle_lane* lane, const void* in, void* out, size_t items,
                            heddle_type type, heddle_reduce_op op, heddle_rank root) {
  return reduce(waiting{}, lane, in, out, items, type, op, root);
}
heddle_status heddle_allreduce(heddle_lane* lane, const void* in, void* out, size_t items,
                               heddle_type type, heddle_reduce_op op) {
  return allreduce(waiting{}, lane, in, out, items, type, op);
}
heddle_status heddle_gather(heddle_lane* lane, const void* in, void* out, size_t bytes,
                            heddle_rank root) {
  return gather(waiting{}, lane, in, out, bytes, root);
}
heddle_status heddle_allgather(heddle_lane* lane, const void* in, void* out, size_t bytes) {
  return allgather(waiting{}, lane, in, out, bytes);
}
heddle_status heddle_alltoall(heddle_lane* lane, const void* in, void* out, size_t bytes) {
  return alltoall(waiting{}, lane, in, out, bytes);
}

heddle_status heddle_try_barrier(heddle_lane* lane, heddle_completion ended) {
  return barrier(started{ended}, lane);
}
heddle_status heddle_try_broadcast(heddle_lane* lane, void* data, size_t bytes, heddle_rank root,
                                   heddle_completion ended) {
  return broadcast(started{ended}, lane, data, bytes, root);
}
heddle_status heddle_try_reduce(heddle_lane* lane, const void* in, void* out, size_t items,
                                heddle_type type, heddle_reduce_op op, heddle_rank root,
                                heddle_completion ended) {
  return reduce(started{ended}, lane, in, out, items, type, op, root);
}
heddle_status heddle_try_allreduce(heddle_lane* lane, const void* in, void* out, size_t items,
                                   heddle_type type, heddle_reduce_op op, heddle_completion ended) {
  return allreduce(started{ended}, lane, in, out, items, type, op);
}
heddle_status heddle_try_gather(heddle_lane* lane, const void* in, void* out, size_t bytes,
                                heddle_rank root, heddle_completion ended) {
  return gather(started{ended}, lane, in, out, bytes, root);
}
heddle_status heddle_try_allgather(heddle_lane* lane, const void* in, void* out, size_t bytes,
                                   heddle_completion ended) {
  return allgather(started{ended}, lane, in, out, bytes);
}
heddle_status heddle_try_alltoall(heddle_lane* lane, const void* in, void* out, size_t bytes,
                                  heddle_completion ended) {
  return alltoall(started{ended}, lane, in, out, bytes);
}
// NOLINTEND(readability-function-size)
