// SPDX-License-Identifier: BSD-3-Clause
// collectives.h - c.h: operations of all ranks, or of a group's, waited for or started.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>

#include "c/convert.h"

// NOLINTBEGIN(readability-function-size): C has neither spans nor defaults
namespace heddle::c {

using detail::reducer;
using detail::reducer_for;

/// item_bytes 0: there is no such type, or operation.
inline reducer reducer_of(heddle_type type, heddle_reduce_op op) noexcept {
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

/// An operation of C's own; item_bytes 0: it is none.
inline reducer reducer_of(size_t item_bytes, heddle_combine combine, void* context) noexcept {
  if (combine == nullptr) return {};
  return {item_bytes, std::bit_cast<reducer::function>(combine), context};
}

/// How `work(async_group)` goes: waited for, or started.
struct waiting {
  template <class F>
  static heddle_status run(any_group on, F&& work) {
    return of(detail::finish(on, work(async_group(on))));
  }
};
struct started {
  heddle_completion ended;
  template <class F>
  heddle_status run(any_group on, F&& work) const {
    return of(detail::launch(work(async_group(on)), of(ended)));
  }
};

inline std::size_t all(any_group on, std::size_t bytes) noexcept {
  return bytes * static_cast<std::size_t>(async_group(on).ranks());
}
/// A buffer that only the root has.
template <class Void>
auto at_root(any_group on, heddle_rank root, Void* buffer, std::size_t bytes) noexcept {
  using span = decltype(bytes_of(buffer, bytes));
  return async_group(on).self() == root ? bytes_of(buffer, bytes) : span();
}

template <class How>
heddle_status barrier(How how, any_group on) {
  return how.run(on, [](async_group of_all) { return heddle::barrier(of_all); });
}
template <class How>
heddle_status broadcast(How how, any_group on, void* data, size_t bytes, heddle_rank root) {
  return how.run(on, [=](async_group of_all) {
    return detail::broadcast(of_all, bytes_of(data, bytes), root);
  });
}
template <class How>
heddle_status reduce(How how, any_group on, const void* in, void* out, size_t items,
                     const reducer& r, heddle_rank root) {
  if (r.item_bytes == 0) return HEDDLE_INVALID;
  const std::size_t bytes = items * r.item_bytes;
  return how.run(on, [=](async_group of_all) {
    return detail::reduce(of_all, bytes_of(in, bytes), at_root(on, root, out, bytes), r, root);
  });
}
template <class How>
heddle_status allreduce(How how, any_group on, const void* in, void* out, size_t items,
                        const reducer& r) {
  if (r.item_bytes == 0) return HEDDLE_INVALID;
  const std::size_t bytes = items * r.item_bytes;
  return how.run(on, [=](async_group of_all) {
    return detail::allreduce(of_all, bytes_of(in, bytes), bytes_of(out, bytes), r);
  });
}
template <class How>
heddle_status gather(How how, any_group on, const void* in, void* out, size_t bytes,
                     heddle_rank root) {
  return how.run(on, [=](async_group of_all) {
    return detail::gather(of_all, bytes_of(in, bytes), at_root(on, root, out, all(on, bytes)),
                          root);
  });
}
template <class How>
heddle_status allgather(How how, any_group on, const void* in, void* out, size_t bytes) {
  return how.run(on, [=](async_group of_all) {
    return detail::allgather(of_all, bytes_of(in, bytes), bytes_of(out, all(on, bytes)));
  });
}
template <class How>
heddle_status alltoall(How how, any_group on, const void* in, void* out, size_t bytes) {
  return how.run(on, [=](async_group of_all) {
    return detail::alltoall(of_all, bytes_of(in, all(on, bytes)), bytes_of(out, all(on, bytes)));
  });
}

template <class How>
heddle_status scatter(How how, any_group on, const void* in, void* out, size_t bytes,
                      heddle_rank root) {
  return how.run(on, [=](async_group of_all) {
    return detail::scatter(of_all, at_root(on, root, in, all(on, bytes)), bytes_of(out, bytes),
                           root);
  });
}
template <class How>
heddle_status scan(How how, any_group on, const void* in, void* out, size_t items,
                   const reducer& r) {
  if (r.item_bytes == 0) return HEDDLE_INVALID;
  const std::size_t bytes = items * r.item_bytes;
  return how.run(on, [=](async_group of_all) {
    return detail::scan(of_all, bytes_of(in, bytes), bytes_of(out, bytes), r);
  });
}
template <class How>
heddle_status exclusive_scan(How how, any_group on, const void* in, void* out, size_t items,
                             const reducer& r) {
  if (r.item_bytes == 0) return HEDDLE_INVALID;
  const std::size_t bytes = items * r.item_bytes;
  return how.run(on, [=](async_group of_all) {
    return detail::exclusive_scan(of_all, bytes_of(in, bytes), bytes_of(out, bytes), r);
  });
}
template <class How>
heddle_status reduce_scatter(How how, any_group on, const void* in, void* out, size_t items,
                             const reducer& r) {
  if (r.item_bytes == 0) return HEDDLE_INVALID;
  const std::size_t bytes = items * r.item_bytes;
  return how.run(on, [=](async_group of_all) {
    return detail::reduce_scatter(of_all, bytes_of(in, all(on, bytes)), bytes_of(out, bytes), r);
  });
}

/// Counts in bytes, one for each rank; of null none, which is invalid.
inline detail::part_counts counts_of(any_group on, const size_t* bytes) noexcept {
  if (bytes == nullptr) return {};
  return {{bytes, static_cast<std::size_t>(async_group(on).ranks())}, 1};
}
inline std::size_t sum_of(any_group on, const size_t* bytes) noexcept {
  if (bytes == nullptr) return 0;
  return std::accumulate(bytes, bytes + async_group(on).ranks(), std::size_t{0});
}

template <class How>
heddle_status gatherv(How how, any_group on, const void* in, size_t in_bytes, void* out,
                      const size_t* bytes, heddle_rank root) {
  return how.run(on, [=](async_group of_all) {
    if (async_group(on).self() != root)
      return detail::gatherv(of_all, bytes_of(in, in_bytes), {}, {}, root);
    return detail::gatherv(of_all, bytes_of(in, in_bytes), bytes_of(out, sum_of(on, bytes)),
                           counts_of(on, bytes), root);
  });
}
template <class How>
heddle_status scatterv(How how, any_group on, const void* in, const size_t* bytes, void* out,
                       size_t out_bytes, heddle_rank root) {
  return how.run(on, [=](async_group of_all) {
    if (async_group(on).self() != root)
      return detail::scatterv(of_all, {}, {}, bytes_of(out, out_bytes), root);
    return detail::scatterv(of_all, bytes_of(in, sum_of(on, bytes)), counts_of(on, bytes),
                            bytes_of(out, out_bytes), root);
  });
}
template <class How>
heddle_status allgatherv(How how, any_group on, const void* in, size_t in_bytes, void* out,
                         const size_t* bytes) {
  return how.run(on, [=](async_group of_all) {
    return detail::allgatherv(of_all, bytes_of(in, in_bytes), bytes_of(out, sum_of(on, bytes)),
                              counts_of(on, bytes));
  });
}
template <class How>
heddle_status alltoallv(How how, any_group on, const void* in, const size_t* in_bytes, void* out,
                        const size_t* out_bytes) {
  return how.run(on, [=](async_group of_all) {
    return detail::alltoallv(of_all, bytes_of(in, sum_of(on, in_bytes)), counts_of(on, in_bytes),
                             bytes_of(out, sum_of(on, out_bytes)), counts_of(on, out_bytes));
  });
}

}  // namespace heddle::c
// NOLINTEND(readability-function-size)
