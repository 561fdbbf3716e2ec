// SPDX-License-Identifier: BSD-3-Clause
// collectives.h - operations that all ranks of a world, or all members of a group, take part in.
//
// Each comes in three forms, for a lane, which stands for all its ranks, and for a group (group.h):
//   status barrier(any_group)                  waits until this rank's part is over: its status
//   status try_barrier(any_group, completion)  `posted`; the completion's outcome has the status
//   task<status> barrier(async_group)          co_await it, or spawn it
// A `lane&` or a `group&` is an any_group, an async_lane or async_group(group) an async_group.
//
// Rules for all; ranks, roots and the order of blocks are those of the group:
// * Every rank calls the collectives of one lane number in the same order, with the same sizes,
//   operation and root; and every member those of one group. Several may be in flight; lanes and
//   groups are independent of each other. With the task form the moment that counts is when it is
//   first awaited or spawned.
// * Buffers, the lane and the group must stay until the end; inputs are unchanged then. An input
//   and an output may be the same memory where so said, and must not overlap otherwise.
// * Reductions assume an operation that is commutative and associative. allreduce gives every rank
//   the same bits, also of NaN and zeros. How floating sums are rounded depends on the number of
//   ranks.
// * Only barrier synchronizes: a rank may leave the others before all have come. With no data at
//   all nothing is sent.
// * Unlike operations they allocate: scratch memory and coroutine frames. Out of memory ends the
//   program. The blocking forms must not be called from a callback, a handler or a task.
//
// Statuses: `done`. `invalid`: a size, root or operation that cannot be right, or a group of
// nobody, and nothing was sent; or a peer sent fewer bytes than this rank asked for. `truncated`: a
// peer sent more. `peer_lost`: a rank died, or could not do its part because of one that did.
// `closed`.
//
// When a rank fails it does not leave: it goes through the rest of its sends and receives, and what
// it sends are empty messages that tell of the failure. So a rank alive never waits for one that
// gave up, and a dead one costs each of those that wait for it at most the peer timeout. Ranks
// that needed nothing from the failed ones return `done`. After any other answer outputs hold
// anything, and later collectives of the same ranks fail as well: survivors() in group.h makes a
// group of those who are alive.
#pragma once
#include <heddle/completion.h>
#include <heddle/coroutine.h>
#include <heddle/detail/part_counts.h>
#include <heddle/detail/reducer.h>
#include <heddle/group.h>
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

task<status> broadcast(async_group on, bytes data, rank root);
task<status> reduce(async_group on, const_bytes in, bytes out, reducer op, rank root);
task<status> allreduce(async_group on, const_bytes in, bytes out, reducer op);
task<status> gather(async_group on, const_bytes in, bytes out, rank root);
task<status> allgather(async_group on, const_bytes in, bytes out);
task<status> alltoall(async_group on, const_bytes in, bytes out);
task<status> scatter(async_group on, const_bytes in, bytes out, rank root);
task<status> scan(async_group on, const_bytes in, bytes out, reducer op);
task<status> exclusive_scan(async_group on, const_bytes in, bytes out, reducer op);
task<status> reduce_scatter(async_group on, const_bytes in, bytes out, reducer op);
task<status> gatherv(async_group on, const_bytes in, bytes out, part_counts counts, rank root);
task<status> scatterv(async_group on, const_bytes in, part_counts counts, bytes out, rank root);
task<status> allgatherv(async_group on, const_bytes in, bytes out, part_counts counts);
task<status> alltoallv(async_group on, const_bytes in, part_counts in_counts, bytes out,
                       part_counts out_counts);

/// Runs `work` and waits for it.
status finish(any_group on, task<status> work) noexcept;
/// Starts `work`: posted.
status launch(task<status> work, completion ended) noexcept;

/// Inputs are converted to this, so that any contiguous range of T is accepted.
template <class T>
using input = std::span<const std::type_identity_t<T>>;

using item_counts = std::span<const std::size_t>;

template <class T>
part_counts parts_of(item_counts items) noexcept {
  return {items, sizeof(T)};
}

template <class T, std::size_t N>
bytes writable(std::span<T, N> data) noexcept {
  static_assert(std::is_trivially_copyable_v<T>);
  return std::as_writable_bytes(data);
}

}  // namespace detail

/// Returns once every rank has called it. Dissemination: about log2(ranks) messages per rank.
task<status> barrier(async_group on);
inline status barrier(any_group on) noexcept {
  return detail::finish(on, barrier(async_group(on)));
}
inline status try_barrier(any_group on, completion ended) noexcept {
  return detail::launch(barrier(async_group(on)), ended);
}

/// `data` of rank `root` replaces everybody's. Binomial tree.
template <class T, std::size_t N>
task<status> broadcast(async_group on, std::span<T, N> data, rank root) {
  return detail::broadcast(on, detail::writable(data), root);
}
template <class T, std::size_t N>
status broadcast(any_group on, std::span<T, N> data, rank root) noexcept {
  return detail::finish(on, broadcast(async_group(on), data, root));
}
template <class T, std::size_t N>
status try_broadcast(any_group on, std::span<T, N> data, rank root, completion ended) noexcept {
  return detail::launch(broadcast(async_group(on), data, root), ended);
}

/// Item by item, combines the `in` of all ranks into `out` of rank `root`; elsewhere `out` is not
/// used and may be empty. `in` and `out` may be the same memory. Binomial tree.
template <reducible T, std::size_t N>
task<status> reduce(async_group on, detail::input<T> in, std::span<T, N> out, reduce_op op,
                    rank root) {
  return detail::reduce(on, std::as_bytes(in), detail::writable(out), detail::reducer_for<T>(op),
                        root);
}
template <reducible T, std::size_t N>
status reduce(any_group on, detail::input<T> in, std::span<T, N> out, reduce_op op,
              rank root) noexcept {
  return detail::finish(on, reduce(async_group(on), in, out, op, root));
}
template <reducible T, std::size_t N>
status try_reduce(any_group on, detail::input<T> in, std::span<T, N> out, reduce_op op, rank root,
                  completion ended) noexcept {
  return detail::launch(reduce(async_group(on), in, out, op, root), ended);
}
/// With an operation of your own, for any trivially copyable T: `[](T a, T b) { return ...; }`.
template <class T, std::size_t N, commutative_operation<T> F>
status reduce(any_group on, detail::input<T> in, std::span<T, N> out, const F& op,
              rank root) noexcept {
  return detail::finish(on,
                        detail::reduce(async_group(on), std::as_bytes(in), detail::writable(out),
                                       detail::reducer_for<T>(op), root));
}

/// reduce whose result every rank gets; `out` is as long as `in`, and may be the same memory.
/// Recursive doubling; for long vectors reduce-scatter and allgather by recursive halving.
template <reducible T, std::size_t N>
task<status> allreduce(async_group on, detail::input<T> in, std::span<T, N> out, reduce_op op) {
  return detail::allreduce(on, std::as_bytes(in), detail::writable(out),
                           detail::reducer_for<T>(op));
}
template <reducible T, std::size_t N>
status allreduce(any_group on, detail::input<T> in, std::span<T, N> out, reduce_op op) noexcept {
  return detail::finish(on, allreduce(async_group(on), in, out, op));
}
template <reducible T, std::size_t N>
status try_allreduce(any_group on, detail::input<T> in, std::span<T, N> out, reduce_op op,
                     completion ended) noexcept {
  return detail::launch(allreduce(async_group(on), in, out, op), ended);
}
template <class T, std::size_t N, commutative_operation<T> F>
status allreduce(any_group on, detail::input<T> in, std::span<T, N> out, const F& op) noexcept {
  return detail::finish(on, detail::allreduce(async_group(on), std::as_bytes(in),
                                              detail::writable(out), detail::reducer_for<T>(op)));
}

/// The `in` of every rank, in the order of ranks, in `out` of rank `root`, which is ranks() times
/// as long; elsewhere `out` is not used and may be empty. Binomial tree; large blocks go directly.
template <class T, std::size_t N>
task<status> gather(async_group on, detail::input<T> in, std::span<T, N> out, rank root) {
  return detail::gather(on, std::as_bytes(in), detail::writable(out), root);
}
template <class T, std::size_t N>
status gather(any_group on, detail::input<T> in, std::span<T, N> out, rank root) noexcept {
  return detail::finish(on, gather(async_group(on), in, out, root));
}
template <class T, std::size_t N>
status try_gather(any_group on, detail::input<T> in, std::span<T, N> out, rank root,
                  completion ended) noexcept {
  return detail::launch(gather(async_group(on), in, out, root), ended);
}

/// gather whose result every rank gets. Bruck's algorithm; a ring for large blocks.
template <class T, std::size_t N>
task<status> allgather(async_group on, detail::input<T> in, std::span<T, N> out) {
  return detail::allgather(on, std::as_bytes(in), detail::writable(out));
}
template <class T, std::size_t N>
status allgather(any_group on, detail::input<T> in, std::span<T, N> out) noexcept {
  return detail::finish(on, allgather(async_group(on), in, out));
}
template <class T, std::size_t N>
status try_allgather(any_group on, detail::input<T> in, std::span<T, N> out,
                     completion ended) noexcept {
  return detail::launch(allgather(async_group(on), in, out), ended);
}

/// Block r of `in` goes to rank r, whose block s of `out` comes from rank s; both are ranks()
/// blocks long. Bruck's algorithm for small blocks, pairwise exchange for large ones.
template <class T, std::size_t N>
task<status> alltoall(async_group on, detail::input<T> in, std::span<T, N> out) {
  return detail::alltoall(on, std::as_bytes(in), detail::writable(out));
}
template <class T, std::size_t N>
status alltoall(any_group on, detail::input<T> in, std::span<T, N> out) noexcept {
  return detail::finish(on, alltoall(async_group(on), in, out));
}
template <class T, std::size_t N>
status try_alltoall(any_group on, detail::input<T> in, std::span<T, N> out,
                    completion ended) noexcept {
  return detail::launch(alltoall(async_group(on), in, out), ended);
}

/// gather the other way round: block r of rank `root`'s `in`, which is ranks() times as long as
/// `out`, becomes the `out` of rank r; elsewhere `in` is not used and may be empty. Binomial tree;
/// large blocks go directly.
template <class T, std::size_t N>
task<status> scatter(async_group on, detail::input<T> in, std::span<T, N> out, rank root) {
  return detail::scatter(on, std::as_bytes(in), detail::writable(out), root);
}
template <class T, std::size_t N>
status scatter(any_group on, detail::input<T> in, std::span<T, N> out, rank root) noexcept {
  return detail::finish(on, scatter(async_group(on), in, out, root));
}
template <class T, std::size_t N>
status try_scatter(any_group on, detail::input<T> in, std::span<T, N> out, rank root,
                   completion ended) noexcept {
  return detail::launch(scatter(async_group(on), in, out, root), ended);
}

/// Item by item, combines the `in` of the ranks up to this one, itself included, into `out`, which
/// is as long, and may be the same memory. Recursive doubling.
template <reducible T, std::size_t N>
task<status> scan(async_group on, detail::input<T> in, std::span<T, N> out, reduce_op op) {
  return detail::scan(on, std::as_bytes(in), detail::writable(out), detail::reducer_for<T>(op));
}
template <reducible T, std::size_t N>
status scan(any_group on, detail::input<T> in, std::span<T, N> out, reduce_op op) noexcept {
  return detail::finish(on, scan(async_group(on), in, out, op));
}
template <reducible T, std::size_t N>
status try_scan(any_group on, detail::input<T> in, std::span<T, N> out, reduce_op op,
                completion ended) noexcept {
  return detail::launch(scan(async_group(on), in, out, op), ended);
}

/// scan without this rank's own `in`. Rank 0's `out` stays as it is.
template <reducible T, std::size_t N>
task<status> exclusive_scan(async_group on, detail::input<T> in, std::span<T, N> out,
                            reduce_op op) {
  return detail::exclusive_scan(on, std::as_bytes(in), detail::writable(out),
                                detail::reducer_for<T>(op));
}
template <reducible T, std::size_t N>
status exclusive_scan(any_group on, detail::input<T> in, std::span<T, N> out,
                      reduce_op op) noexcept {
  return detail::finish(on, exclusive_scan(async_group(on), in, out, op));
}
template <reducible T, std::size_t N>
status try_exclusive_scan(any_group on, detail::input<T> in, std::span<T, N> out, reduce_op op,
                          completion ended) noexcept {
  return detail::launch(exclusive_scan(async_group(on), in, out, op), ended);
}

/// Combines as reduce does; block r of the result becomes the `out` of rank r. `in` is ranks()
/// times as long as `out`. Trees to rank 0 and back; for long vectors pairwise exchange.
template <reducible T, std::size_t N>
task<status> reduce_scatter(async_group on, detail::input<T> in, std::span<T, N> out,
                            reduce_op op) {
  return detail::reduce_scatter(on, std::as_bytes(in), detail::writable(out),
                                detail::reducer_for<T>(op));
}
template <reducible T, std::size_t N>
status reduce_scatter(any_group on, detail::input<T> in, std::span<T, N> out,
                      reduce_op op) noexcept {
  return detail::finish(on, reduce_scatter(async_group(on), in, out, op));
}
template <reducible T, std::size_t N>
status try_reduce_scatter(any_group on, detail::input<T> in, std::span<T, N> out, reduce_op op,
                          completion ended) noexcept {
  return detail::launch(reduce_scatter(async_group(on), in, out, op), ended);
}

// --- with counts: blocks whose sizes differ, some of them empty, packed in the order of ranks.
// Counts are in items of T, one for each rank, and must stay until the end. What one rank says of a
// block and what the other does must agree; where one of them says 0, the other waits for ever. ---

/// gather of `in` that differ in length: `counts[r]` is that of rank r. `out` and `counts` are used
/// at the root only. Everyone sends straight to the root.
template <class T, std::size_t N>
task<status> gatherv(async_group on, detail::input<T> in, std::span<T, N> out,
                     detail::item_counts counts, rank root) {
  return detail::gatherv(on, std::as_bytes(in), detail::writable(out), detail::parts_of<T>(counts),
                         root);
}
template <class T, std::size_t N>
status gatherv(any_group on, detail::input<T> in, std::span<T, N> out, detail::item_counts counts,
               rank root) noexcept {
  return detail::finish(on, gatherv(async_group(on), in, out, counts, root));
}
template <class T, std::size_t N>
status try_gatherv(any_group on, detail::input<T> in, std::span<T, N> out,
                   detail::item_counts counts, rank root, completion ended) noexcept {
  return detail::launch(gatherv(async_group(on), in, out, counts, root), ended);
}

/// scatter to `out` that differ in length: `counts[r]` is that of rank r. `in` and `counts` are
/// used at the root only. The root sends straight to everyone.
template <class T, std::size_t N>
task<status> scatterv(async_group on, detail::input<T> in, detail::item_counts counts,
                      std::span<T, N> out, rank root) {
  return detail::scatterv(on, std::as_bytes(in), detail::parts_of<T>(counts), detail::writable(out),
                          root);
}
template <class T, std::size_t N>
status scatterv(any_group on, detail::input<T> in, detail::item_counts counts, std::span<T, N> out,
                rank root) noexcept {
  return detail::finish(on, scatterv(async_group(on), in, counts, out, root));
}
template <class T, std::size_t N>
status try_scatterv(any_group on, detail::input<T> in, detail::item_counts counts,
                    std::span<T, N> out, rank root, completion ended) noexcept {
  return detail::launch(scatterv(async_group(on), in, counts, out, root), ended);
}

/// allgather of `in` that differ in length: `counts[r]` is that of rank r, on every rank. Bruck's
/// algorithm; a ring where there is much.
template <class T, std::size_t N>
task<status> allgatherv(async_group on, detail::input<T> in, std::span<T, N> out,
                        detail::item_counts counts) {
  return detail::allgatherv(on, std::as_bytes(in), detail::writable(out),
                            detail::parts_of<T>(counts));
}
template <class T, std::size_t N>
status allgatherv(any_group on, detail::input<T> in, std::span<T, N> out,
                  detail::item_counts counts) noexcept {
  return detail::finish(on, allgatherv(async_group(on), in, out, counts));
}
template <class T, std::size_t N>
status try_allgatherv(any_group on, detail::input<T> in, std::span<T, N> out,
                      detail::item_counts counts, completion ended) noexcept {
  return detail::launch(allgatherv(async_group(on), in, out, counts), ended);
}

/// alltoall of blocks that differ in length: `in_counts[r]` items go to rank r, `out_counts[s]`
/// come from rank s. Pairwise exchange.
template <class T, std::size_t N>
task<status> alltoallv(async_group on, detail::input<T> in, detail::item_counts in_counts,
                       std::span<T, N> out, detail::item_counts out_counts) {
  return detail::alltoallv(on, std::as_bytes(in), detail::parts_of<T>(in_counts),
                           detail::writable(out), detail::parts_of<T>(out_counts));
}
template <class T, std::size_t N>
status alltoallv(any_group on, detail::input<T> in, detail::item_counts in_counts,
                 std::span<T, N> out, detail::item_counts out_counts) noexcept {
  return detail::finish(on, alltoallv(async_group(on), in, in_counts, out, out_counts));
}
template <class T, std::size_t N>
status try_alltoallv(any_group on, detail::input<T> in, detail::item_counts in_counts,
                     std::span<T, N> out, detail::item_counts out_counts,
                     completion ended) noexcept {
  return detail::launch(alltoallv(async_group(on), in, in_counts, out, out_counts), ended);
}

}  // namespace heddle
