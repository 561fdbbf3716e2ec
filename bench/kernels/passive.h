// SPDX-License-Identifier: BSD-3-Clause
// passive.h - a target that is read from and written to, and takes no part.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "harness/rounds.h"
#include "harness/slots.h"
#include "kernels/library.h"
#include "parts/timing.h"

namespace heddle::bench {

/// `initiate` and a target that waits in the library for word of the end, or computes without a
/// call to it until the initiator has changed a word in its memory.
template <class Path, class F>
exchange with_passive_target(const std::shared_ptr<Path>& path, const role& r, F initiate) {
  const bool waits = r.what.target == target_mode::waiting;
  const std::size_t line = table_layout::for_spec(r.what).line_of(r.thread);
  const auto runs = std::make_shared<std::uint64_t>(0);
  exchange e;
  e.initiate = initiate;
  e.conclude = [=] {
    if (waits) return path->notify();
    path->put_word(++*runs, path->at(line));
    path->drain();
  };
  e.respond = [=](std::uint64_t) {
    if (waits) return path->await_notice();
    auto& told = *reinterpret_cast<std::uint64_t*>(path->here(line));
    volatile std::uint64_t work = 1;
    ++*runs;
    // Acquire pairs with however the library publishes the initiator's put.
    while (std::atomic_ref(told).load(std::memory_order_acquire) != *runs) {
      for (int i = 0; i < 1000; ++i) work = work * 3 + 1;
    }
  };
  return e;
}

/// A value fetched from the target by Begin, a word of the path, and back here before the next.
template <auto Begin, class Path>
exchange round_trip(const std::shared_ptr<Path>& path, const role& r) {
  const std::size_t slot = table_layout::for_spec(r.what).slot_of(r.thread);
  return with_passive_target(path, r, [=](std::uint64_t count, stopwatch& watch) {
    const auto from = path->at(slot);
    watch.start();
    for (std::uint64_t i = 0; i < count; ++i) {
      ((*path).*Begin)(from);
      path->drain();
      watch.lap();
    }
  });
}

/// A window of operations, begun by Begin, a word of the path, on random slots of this thread's
/// part of the target's table. Begin is known to the compiler, because a call weighs beside an
/// access of 3 ns.
template <auto Begin, class Path>
exchange table_flood(const std::shared_ptr<Path>& path, const role& r) {
  return with_passive_target(path, r, [=](std::uint64_t count, stopwatch&) {
    const table_layout layout = table_layout::for_spec(r.what);
    bare::random_slots slots(layout.part, static_cast<std::uint64_t>(r.thread) + 1);
    const std::size_t first = layout.part_of(r.thread), stride = layout.stride;
    Path& own = *path;
    for (std::uint64_t i = 0; i < count; ++i) (own.*Begin)(own.at(first + slots.next() * stride));
    own.drain();
    own.flush();
  });
}

}  // namespace heddle::bench
