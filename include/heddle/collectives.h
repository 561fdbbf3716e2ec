// collectives.h - operations that all ranks of a world take part in, on a lane.
//
// Each comes in three forms:
//   status barrier(lane&)                  waits until this rank's part is over: its status
//   status try_barrier(lane&, completion)  `posted`; the completion's outcome has the status
//   task<status> barrier(async_lane)       co_await it, or spawn it
//
// Rules for all:
// * Every rank calls the collectives of one lane number in the same order, with the same sizes,
//   operation and root. Several may be in flight; lanes are independent of each other. With the
//   task form the moment that counts is when it is first awaited or spawned.
// * Buffers, and the lane, must stay until the end; inputs are unchanged then. An input and an
//   output may be the same memory where so said, and must not overlap otherwise.
// * Reductions assume an operation that is commutative and associative. allreduce gives every rank
//   the same bits. How floating sums are rounded depends on the number of ranks.
// * Only barrier synchronizes: a rank may leave the others before all have come. With no data at
//   all nothing is sent.
// * Unlike operations they allocate: scratch memory and coroutine frames. Out of memory ends the
//   program. The blocking forms must not be called from a callback, a handler or a task.
//
// Statuses: `done`. `invalid`: a size, root or operation that cannot be right, and nothing was
// sent; or a peer sent fewer bytes than this rank asked for. `truncated`: a peer sent more.
// `peer_lost`: a rank died, or could not do its part because of one that did. `closed`.
//
// When a rank fails it does not leave: it goes through the rest of its sends and receives, and what
// it sends are empty messages that tell of the failure. So a rank alive never waits for one that
// gave up, and a dead one costs each of those that wait for it at most the peer timeout. Ranks
// that needed nothing from the failed ones return `done`. After any other answer outputs hold
// anything, and later collectives on this world fail as well.
#pragma once
#include <heddle/completion.h>
#include <heddle/coroutine.h>
#include <heddle/detail/reducer.h>
#include <heddle/lane.h>
#include <heddle/status.h>
#include <heddle/task.h>
#include <heddle/types.h>

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

namespace heddle {

namespace detail {

using bytes = std::span<std::byte>;
using const_bytes = std::span<const std::byte>;

task<status> broadcast(async_lane on, bytes data, rank root);
task<status> reduce(async_lane on, const_bytes in, bytes out, reducer op, rank root);
task<status> allreduce(async_lane on, const_bytes in, bytes out, reducer op);
task<status> gather(async_lane on, const_bytes in, bytes out, rank root);
task<status> allgather(async_lane on, const_bytes in, bytes out);
task<status> alltoall(async_lane on, const_bytes in, bytes out);

/// Runs `work` and waits for it.
status finish(lane& on, task<status> work) noexcept;
/// Starts `work`: posted.
status launch(task<status> work, completion ended) noexcept;

/// Inputs are converted to this, so that any contiguous range of T is accepted.
template <class T>
using input = std::span<const std::type_identity_t<T>>;

template <class T, std::size_t N>
bytes writable(std::span<T, N> data) noexcept {
  static_assert(std::is_trivially_copyable_v<T>);
  return std::as_writable_bytes(data);
}

}  // namespace detail

/// Returns once every rank has called it. Dissemination: about log2(ranks) messages per rank.
task<status> barrier(async_lane on);
inline status barrier(lane& on) noexcept {
  return detail::finish(on, barrier(async_lane(on)));
}
inline status try_barrier(lane& on, completion ended) noexcept {
  return detail::launch(barrier(async_lane(on)), ended);
}

/// `data` of rank `root` replaces everybody's. Binomial tree.
template <class T, std::size_t N>
task<status> broadcast(async_lane on, std::span<T, N> data, rank root) {
  return detail::broadcast(on, detail::writable(data), root);
}
template <class T, std::size_t N>
status broadcast(lane& on, std::span<T, N> data, rank root) noexcept {
  return detail::finish(on, broadcast(async_lane(on), data, root));
}
template <class T, std::size_t N>
status try_broadcast(lane& on, std::span<T, N> data, rank root, completion ended) noexcept {
  return detail::launch(broadcast(async_lane(on), data, root), ended);
}

/// Item by item, combines the `in` of all ranks into `out` of rank `root`; elsewhere `out` is not
/// used and may be empty. `in` and `out` may be the same memory. Binomial tree.
template <reducible T, std::size_t N>
task<status> reduce(async_lane on, detail::input<T> in, std::span<T, N> out, reduce_op op,
                    rank root) {
  return detail::reduce(on, std::as_bytes(in), detail::writable(out), detail::reducer_for<T>(op),
                        root);
}
template <reducible T, std::size_t N>
status reduce(lane& on, detail::input<T> in, std::span<T, N> out, reduce_op op,
              rank root) noexcept {
  return detail::finish(on, reduce(async_lane(on), in, out, op, root));
}
template <reducible T, std::size_t N>
status try_reduce(lane& on, detail::input<T> in, std::span<T, N> out, reduce_op op, rank root,
                  completion ended) noexcept {
  return detail::launch(reduce(async_lane(on), in, out, op, root), ended);
}
/// With an operation of your own, for any trivially copyable T: `[](T a, T b) { return ...; }`.
template <class T, std::size_t N, commutative_operation<T> F>
status reduce(lane& on, detail::input<T> in, std::span<T, N> out, const F& op, rank root) noexcept {
  return detail::finish(on, detail::reduce(async_lane(on), std::as_bytes(in), detail::writable(out),
                                           detail::reducer_for<T>(op), root));
}

/// reduce whose result every rank gets; `out` is as long as `in`, and may be the same memory.
/// Recursive doubling; for long vectors reduce-scatter and allgather by recursive halving.
template <reducible T, std::size_t N>
task<status> allreduce(async_lane on, detail::input<T> in, std::span<T, N> out, reduce_op op) {
  return detail::allreduce(on, std::as_bytes(in), detail::writable(out),
                           detail::reducer_for<T>(op));
}
template <reducible T, std::size_t N>
status allreduce(lane& on, detail::input<T> in, std::span<T, N> out, reduce_op op) noexcept {
  return detail::finish(on, allreduce(async_lane(on), in, out, op));
}
template <reducible T, std::size_t N>
status try_allreduce(lane& on, detail::input<T> in, std::span<T, N> out, reduce_op op,
                     completion ended) noexcept {
  return detail::launch(allreduce(async_lane(on), in, out, op), ended);
}
template <class T, std::size_t N, commutative_operation<T> F>
status allreduce(lane& on, detail::input<T> in, std::span<T, N> out, const F& op) noexcept {
  return detail::finish(on, detail::allreduce(async_lane(on), std::as_bytes(in),
                                              detail::writable(out), detail::reducer_for<T>(op)));
}

/// The `in` of every rank, in the order of ranks, in `out` of rank `root`, which is ranks() times
/// as long; elsewhere `out` is not used and may be empty. Binomial tree; large blocks go directly.
template <class T, std::size_t N>
task<status> gather(async_lane on, detail::input<T> in, std::span<T, N> out, rank root) {
  return detail::gather(on, std::as_bytes(in), detail::writable(out), root);
}
template <class T, std::size_t N>
status gather(lane& on, detail::input<T> in, std::span<T, N> out, rank root) noexcept {
  return detail::finish(on, gather(async_lane(on), in, out, root));
}
template <class T, std::size_t N>
status try_gather(lane& on, detail::input<T> in, std::span<T, N> out, rank root,
                  completion ended) noexcept {
  return detail::launch(gather(async_lane(on), in, out, root), ended);
}

/// gather whose result every rank gets. Bruck's algorithm; a ring for large blocks.
template <class T, std::size_t N>
task<status> allgather(async_lane on, detail::input<T> in, std::span<T, N> out) {
  return detail::allgather(on, std::as_bytes(in), detail::writable(out));
}
template <class T, std::size_t N>
status allgather(lane& on, detail::input<T> in, std::span<T, N> out) noexcept {
  return detail::finish(on, allgather(async_lane(on), in, out));
}
template <class T, std::size_t N>
status try_allgather(lane& on, detail::input<T> in, std::span<T, N> out,
                     completion ended) noexcept {
  return detail::launch(allgather(async_lane(on), in, out), ended);
}

/// Block r of `in` goes to rank r, whose block s of `out` comes from rank s; both are ranks()
/// blocks long. Bruck's algorithm for small blocks, pairwise exchange for large ones.
template <class T, std::size_t N>
task<status> alltoall(async_lane on, detail::input<T> in, std::span<T, N> out) {
  return detail::alltoall(on, std::as_bytes(in), detail::writable(out));
}
template <class T, std::size_t N>
status alltoall(lane& on, detail::input<T> in, std::span<T, N> out) noexcept {
  return detail::finish(on, alltoall(async_lane(on), in, out));
}
template <class T, std::size_t N>
status try_alltoall(lane& on, detail::input<T> in, std::span<T, N> out, completion ended) noexcept {
  return detail::launch(alltoall(async_lane(on), in, out), ended);
}

}  // namespace heddle
