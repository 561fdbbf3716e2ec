// SPDX-License-Identifier: BSD-3-Clause
// allreduce.h - recursive doubling for short vectors; for long ones reduce-scatter by recursive
// halving and then allgather by recursive doubling (Rabenseifner), which moves each byte about
// twice instead of log2(ranks) times.
//
// Both want a power of two: of the ranks beyond it, each first folds its vector into a neighbour's
// and gets the result from there at the end.
#pragma once
#include <bit>
#include <cstddef>
#include <utility>

#include "collectives/exchange.h"
#include "collectives/reduce.h"

namespace heddle::collectives {

/// From this many bytes on the bytes moved cost more than the messages.
inline constexpr std::size_t long_vector = 32 * 1024;

/// An allreduce under way.
template <class Lane>
struct allreduction {
  exchange<Lane> all;
  bytes total;    ///< this rank's partial result; perhaps in the room of `arrived`
  bytes arrived;  ///< as long as `total`
  detail::reducer op;
  int group = 1;     ///< largest power of two not above ranks
  int folded = 0;    ///< so many pairs at the start count as one
  int position = 0;  ///< in the group; -1: folded into the next rank

  allreduction(basic_async_group<Lane> on, bytes result, bytes room, detail::reducer combine)
      : all(on), total(result), arrived(room), op(combine) {
    group = static_cast<int>(std::bit_floor(static_cast<unsigned>(all.ranks())));
    folded = all.ranks() - group;
    const rank self = all.self();
    if (self >= 2 * folded) {
      position = self - folded;
    } else {
      position = self % 2 == 1 ? self / 2 : -1;
    }
  }

  [[nodiscard]] rank rank_at(int place) const noexcept {
    return place < folded ? 2 * place + 1 : place + folded;
  }
  [[nodiscard]] bool has_folded_neighbour() const noexcept { return position < folded; }

  /// The bytes of blocks [first, last), when the vector is cut into `group` nearly equal blocks.
  [[nodiscard]] bytes range(int first, int last) const noexcept {
    return total.subspan(start_of(first), start_of(last) - start_of(first));
  }
  [[nodiscard]] std::size_t start_of(int block) const noexcept {
    const std::size_t items = total.size() / op.item_bytes;
    return items * static_cast<std::size_t>(block) / static_cast<std::size_t>(group) *
           op.item_bytes;
  }
  void combine(bytes part) const noexcept {
    if (all.intact()) op(part, arrived.first(part.size()));
  }
  /// For two partners that compute the same: what the lower one has comes first at both, as the
  /// bits of a NaN or a zero depend on it.
  void combine_in_order(int partner) noexcept {
    if (position < partner) return combine(total);
    if (!all.intact()) return;
    op(arrived, total);
    std::swap(arrived, total);
  }
};

enum : unsigned { fold_round, unfold_round, first_group_round };

template <class Lane>
task<> fold(allreduction<Lane>& work) {
  auto& all = work.all;
  if (work.position < 0) {
    all.note(co_await all.send(all.self() + 1, fold_round, work.total));
  } else if (work.has_folded_neighbour()) {
    all.note(co_await all.recv(all.self() - 1, fold_round, work.arrived), work.total.size());
    work.combine(work.total);
  }
}

template <class Lane>
task<> unfold(allreduction<Lane>& work) {
  auto& all = work.all;
  if (work.position < 0) {
    all.note(co_await all.recv(all.self() + 1, unfold_round, work.total), work.total.size());
  } else if (work.has_folded_neighbour()) {
    all.note(co_await all.send(all.self() - 1, unfold_round, work.total));
  }
}

/// Each round the partial results of two halves are exchanged and combined on both sides.
template <class Lane>
task<> reduce_whole(allreduction<Lane>& work) {
  unsigned round = first_group_round;
  for (int bit = 1; bit < work.group; bit *= 2) {
    const int position = work.position ^ bit;
    const rank partner = work.rank_at(position);
    const auto swapped =
        co_await work.all.swap(round++, partner, work.total, partner, work.arrived);
    work.all.note(swapped, work.total.size());
    work.combine_in_order(position);
  }
}

/// Each round gives one half of the blocks away and combines the partner's part of the other.
template <class Lane>
task<> reduce_scatter(allreduction<Lane>& work) {
  unsigned round = first_group_round;
  int first = 0;
  int last = work.group;
  for (int bit = work.group / 2; bit > 0; bit /= 2) {
    const rank partner = work.rank_at(work.position ^ bit);
    const int middle = first + bit;
    const bool upper = (work.position & bit) != 0;
    const bytes given = upper ? work.range(first, middle) : work.range(middle, last);
    (upper ? first : last) = middle;
    const bytes kept = work.range(first, last);
    const auto swapped =
        co_await work.all.swap(round++, partner, given, partner, work.arrived.first(kept.size()));
    work.all.note(swapped, kept.size());
    work.combine(kept);
  }
}

/// Each round doubles the run of finished blocks that both partners have.
template <class Lane>
task<> gather_blocks(allreduction<Lane>& work) {
  unsigned round = first_group_round + 64;  // after all of reduce_scatter's
  for (int bit = 1; bit < work.group; bit *= 2) {
    const rank partner = work.rank_at(work.position ^ bit);
    const int first = work.position & ~(bit - 1);
    const bytes own = work.range(first, first + bit);
    const bytes other = work.range(first ^ bit, (first ^ bit) + bit);
    const auto swapped = co_await work.all.swap(round++, partner, own, partner, other);
    work.all.note(swapped, other.size());
  }
}

template <class Lane>
task<status> allreduce(basic_async_group<Lane> on, const_bytes in, bytes out, detail::reducer op) {
  if (!can_reduce(in.size(), op) || out.size() != in.size()) co_return status::invalid;
  const scratch room(in.size());
  allreduction<Lane> work(on, out, room.all(), op);
  if (in.empty()) co_return status::done;
  copy(in, out);
  co_await fold(work);
  // Every block needs an item: an empty message would tell of failure.
  const bool has_all_blocks = in.size() / op.item_bytes >= static_cast<std::size_t>(work.group);
  if (work.position >= 0 && in.size() >= long_vector && has_all_blocks) {
    co_await reduce_scatter(work);
    co_await gather_blocks(work);
  } else if (work.position >= 0) {
    co_await reduce_whole(work);
  }
  co_await unfold(work);
  if (work.total.data() != out.data()) copy(work.total, out);
  co_return work.all.health();
}

}  // namespace heddle::collectives
