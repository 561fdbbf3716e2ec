// SPDX-License-Identifier: BSD-3-Clause
// interval_index.h - what begins where, sorted, for readers beside one writer.
//
// The writer shifts the array in place; a reader beside it may be led to anything that is or was in
// it. So an answer is a hint, and the reader looks at what it got; so does who finds nothing. That
// spares readers every kind of lock, version and copy.
//
// Unused cells begin at the end of all addresses, so a search goes over the next power of two and
// needs no bounds: half a dozen instructions per halving.
#pragma once
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace heddle::sync {

template <class T>
class interval_index {
 public:
  /// `nothing` is what a search of an empty index finds.
  interval_index(std::size_t capacity, T& nothing)
      : cells_(std::bit_ceil(std::max<std::size_t>(capacity, 1))),
        starts_(std::make_unique<std::atomic<std::uintptr_t>[]>(cells_)),
        things_(std::make_unique<std::atomic<T*>[]>(cells_)) {
    // Relaxed: the index is handed to other threads by whatever starts them.
    for (std::size_t i = 0; i < cells_; ++i) {
      starts_[i].store(nowhere, std::memory_order_relaxed);
      things_[i].store(&nothing, std::memory_order_relaxed);
    }
  }

  /// What begins last among what begins at `at` or before; anything when there is none, or when the
  /// writer is at work. Any thread.
  [[nodiscard]] T& find(std::uintptr_t at) const noexcept {
    std::size_t place = 0;
    // Relaxed: the answer is a hint.
    for (std::size_t step = half_.load(std::memory_order_relaxed); step != 0; step /= 2)
      place += starts_[place + step].load(std::memory_order_relaxed) <= at ? step : 0;
    // A1 pairs with R1 in put(): the thing may be younger than the index.
    return *things_[place].load(std::memory_order_acquire);
  }

  // --- the writer: one thread at a time --------------------------------------------------
  /// Not more than `capacity` at a time.
  void insert(std::uintptr_t start, T& thing) noexcept {
    std::size_t place = count_;
    for (; place != 0 && start_at(place - 1) > start; --place) move(place - 1, place);
    put(place, start, &thing);
    resize(count_ + 1);
  }
  void erase(std::uintptr_t start, const T& thing) noexcept {
    std::size_t place = 0;
    while (place != count_ && (start_at(place) != start || thing_at(place) != &thing)) ++place;
    if (place == count_) return;
    for (; place + 1 != count_; ++place) move(place + 1, place);
    put(place, nowhere, thing_at(place));
    resize(count_ - 1);
  }

 private:
  static constexpr std::uintptr_t nowhere = UINTPTR_MAX;

  // Relaxed: ours, and hints to others.
  [[nodiscard]] std::uintptr_t start_at(std::size_t i) const noexcept {
    return starts_[i].load(std::memory_order_relaxed);
  }
  [[nodiscard]] T* thing_at(std::size_t i) const noexcept {
    return things_[i].load(std::memory_order_relaxed);
  }
  void put(std::size_t i, std::uintptr_t start, T* thing) noexcept {
    things_[i].store(thing, std::memory_order_release);  // R1 pairs with A1
    starts_[i].store(start, std::memory_order_relaxed);
  }
  void move(std::size_t from, std::size_t to) noexcept { put(to, start_at(from), thing_at(from)); }
  void resize(std::size_t count) noexcept {
    count_ = count;
    half_.store(std::bit_ceil(count) / 2, std::memory_order_relaxed);
  }

  const std::size_t cells_;
  const std::unique_ptr<std::atomic<std::uintptr_t>[]> starts_;
  const std::unique_ptr<std::atomic<T*>[]> things_;
  std::atomic<std::size_t> half_{0};  // the first step of a search: all places are below its double
  std::size_t count_ = 0;             // the writer's
};

}  // namespace heddle::sync
