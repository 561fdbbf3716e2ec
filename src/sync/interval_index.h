// interval_index.h - where intervals begin, sorted, for readers beside one writer.
//
// The writer shifts the array in place; a reader beside it may be led to any slot that is or was in
// it. So an answer is a hint, and the reader checks the slot itself; so does whoever finds nothing.
// That spares readers every kind of lock, version and copy.
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

class interval_index {
 public:
  explicit interval_index(std::size_t capacity)
      : cells_(std::bit_ceil(std::max<std::size_t>(capacity, 1))),
        starts_(std::make_unique<std::atomic<std::uintptr_t>[]>(cells_)),
        slots_(std::make_unique<std::atomic<std::uint32_t>[]>(cells_)) {
    // Relaxed: the index is handed to other threads by whatever starts them.
    for (std::size_t i = 0; i < cells_; ++i) starts_[i].store(nowhere, std::memory_order_relaxed);
  }

  /// The slot of the interval that begins last among those that begin at `at` or before; any slot
  /// when there is none, or when the writer is at work. Any thread.
  [[nodiscard]] std::uint32_t find(std::uintptr_t at) const noexcept {
    std::size_t place = 0;
    // Relaxed, all: the answer is a hint.
    for (std::size_t step = half_.load(std::memory_order_relaxed); step != 0; step /= 2)
      place += starts_[place + step].load(std::memory_order_relaxed) <= at ? step : 0;
    return slots_[place].load(std::memory_order_relaxed);
  }

  // --- the writer: one thread at a time --------------------------------------------------
  /// Not more than `capacity` at a time.
  void insert(std::uintptr_t start, std::uint32_t slot) noexcept {
    std::size_t place = count_;
    for (; place != 0 && start_at(place - 1) > start; --place) move(place - 1, place);
    put(place, start, slot);
    resize(count_ + 1);
  }
  void erase(std::uintptr_t start, std::uint32_t slot) noexcept {
    std::size_t place = 0;
    while (place != count_ && (start_at(place) != start || slot_at(place) != slot)) ++place;
    if (place == count_) return;
    for (; place + 1 != count_; ++place) move(place + 1, place);
    put(place, nowhere, slot_at(place));
    resize(count_ - 1);
  }

 private:
  static constexpr std::uintptr_t nowhere = UINTPTR_MAX;

  // Relaxed, all: ours, and hints to others.
  [[nodiscard]] std::uintptr_t start_at(std::size_t i) const noexcept {
    return starts_[i].load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint32_t slot_at(std::size_t i) const noexcept {
    return slots_[i].load(std::memory_order_relaxed);
  }
  void put(std::size_t i, std::uintptr_t start, std::uint32_t slot) noexcept {
    slots_[i].store(slot, std::memory_order_relaxed);
    starts_[i].store(start, std::memory_order_relaxed);
  }
  void move(std::size_t from, std::size_t to) noexcept { put(to, start_at(from), slot_at(from)); }
  void resize(std::size_t count) noexcept {
    count_ = count;
    half_.store(std::bit_ceil(count) / 2, std::memory_order_relaxed);
  }

  const std::size_t cells_;
  const std::unique_ptr<std::atomic<std::uintptr_t>[]> starts_;
  const std::unique_ptr<std::atomic<std::uint32_t>[]> slots_;
  std::atomic<std::size_t> half_{0};  // the first step of a search: all places are below its double
  std::size_t count_ = 0;             // the writer's
};

}  // namespace heddle::sync
