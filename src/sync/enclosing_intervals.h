// SPDX-License-Identifier: BSD-3-Clause
// enclosing_intervals.h - which interval contains all of another: for readers without a lock beside
// one writer. Intervals may overlap, and there are few changes.
//
// The writer makes the version odd while it shifts the array in place. A reader whose version stays
// the same and even has seen what was there at one moment; one that is disturbed several times says
// that it found nothing, which must be an answer its caller can do with. Where the intervals are
// far apart from each other in their being changed, a hint that is checked is cheaper:
// interval_index.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "sync/growing_array.h"

namespace heddle::sync {

/// `Atomic` is std::atomic; tests/model puts in one that stops at each access.
template <template <class> class Atomic = std::atomic>
class enclosing_intervals {
 public:
  struct interval {
    std::uintptr_t from = 0, to = 0;         ///< to: the one past its end
    std::array<std::uint64_t, 2> what = {};  ///< the owner's; differs from that of every other
    friend bool operator==(const interval&, const interval&) = default;
  };
  /// No memory is touched for those that are not there.
  explicit enclosing_intervals(std::size_t capacity) : cells_(capacity) {}

  /// The one that begins last of those that contain `from` to `to`. Nothing: there is none, or the
  /// writer was at work each time. Any thread, and none waits.
  [[nodiscard]] std::optional<interval> find(std::uintptr_t from,
                                             std::uintptr_t to) const noexcept {
    for (int tries = 0; tries != 3; ++tries) {
      // A1 pairs with R1: what that change wrote is seen.
      const std::uint64_t before = version_.load(std::memory_order_acquire);
      if (before % 2 != 0) continue;
      const std::optional<interval> found = search(from, to);
      // Relaxed: not before the loads of search(), which acquire (A2).
      if (version_.load(std::memory_order_relaxed) == before) return found;
    }
    return {};
  }

  // --- the writer: one thread at a time --------------------------------------------------
  /// Not more than `capacity` at a time.
  void insert(const interval& added) noexcept {
    begin_change();
    std::size_t place = count_.load(std::memory_order_relaxed);  // relaxed: ours
    if (place == cells_.size()) cells_.add();
    count_.store(place + 1, std::memory_order_release);  // R2 pairs with A2, as all in set()
    for (; place != 0 && get(place - 1).from > added.from; --place) set(place, get(place - 1));
    set(place, added);
    renew_reach(place);
    end_change();
  }
  void erase(const interval& gone) noexcept {
    const std::size_t count = count_.load(std::memory_order_relaxed);  // relaxed: ours
    std::size_t place = 0;
    while (place != count && get(place) != gone) ++place;
    if (place == count) return;
    begin_change();
    for (std::size_t i = place; i + 1 != count; ++i) set(i, get(i + 1));
    count_.store(count - 1, std::memory_order_release);  // R2 pairs with A2
    renew_reach(place);
    end_change();
  }

 private:
  struct cell {
    Atomic<std::uintptr_t> from{}, to{};
    Atomic<std::uintptr_t> reach{};  // where the last to end of this and all before it ends
    std::array<Atomic<std::uint64_t>, 2> what{};
  };
  // Acquire, in the readers' three: A2 pairs with R2. Who reads what a change wrote sees the odd
  // version of that change, too, and finds the version another at the end.
  [[nodiscard]] interval get(std::size_t i) const noexcept {
    const cell& c = cells_.data()[i];
    return {c.from.load(std::memory_order_acquire),
            c.to.load(std::memory_order_acquire),
            {c.what[0].load(std::memory_order_acquire), c.what[1].load(std::memory_order_acquire)}};
  }
  [[nodiscard]] bool begins_by(std::size_t i, std::uintptr_t at) const noexcept {
    return cells_.data()[i].from.load(std::memory_order_acquire) <= at;
  }
  [[nodiscard]] std::uintptr_t reach(std::size_t i) const noexcept {
    return cells_.data()[i].reach.load(std::memory_order_acquire);
  }
  /// Beside the writer it may answer anything that is, or was, or never was; it comes to an end.
  [[nodiscard]] std::optional<interval> search(std::uintptr_t from,
                                               std::uintptr_t to) const noexcept {
    std::size_t place = 0, end = count_.load(std::memory_order_acquire);  // A2 pairs with R2
    while (place != end) {
      const std::size_t middle = place + (end - place) / 2;
      if (begins_by(middle, from))
        place = middle + 1;
      else
        end = middle;
    }
    for (; place != 0 && reach(place - 1) >= to; --place)
      if (const interval found = get(place - 1); found.to >= to) return found;
    return {};
  }

  void set(std::size_t i, const interval& to) noexcept {
    cell& c = cells_.data()[i];
    // R2 pairs with A2, all of them: they carry the odd version with them.
    c.from.store(to.from, std::memory_order_release);
    c.to.store(to.to, std::memory_order_release);
    for (std::size_t k = 0; k != c.what.size(); ++k)
      c.what[k].store(to.what[k], std::memory_order_release);
  }
  void renew_reach(std::size_t from) noexcept {
    std::uintptr_t furthest = from == 0 ? 0 : reach(from - 1);
    for (std::size_t i = from; i != count_.load(std::memory_order_relaxed); ++i) {  // relaxed: ours
      furthest = std::max(furthest, get(i).to);
      cells_.data()[i].reach.store(furthest, std::memory_order_release);  // R2 pairs with A2
    }
  }
  void begin_change() noexcept { change_version(std::memory_order_relaxed); }  // R2 carries it
  void end_change() noexcept { change_version(std::memory_order_release); }    // R1 pairs with A1
  void change_version(std::memory_order order) noexcept {
    version_.store(version_.load(std::memory_order_relaxed) + 1, order);  // relaxed load: ours
  }

  growing_array<cell> cells_;
  Atomic<std::uint64_t> version_{};
  Atomic<std::size_t> count_{};
};

}  // namespace heddle::sync
