// SPDX-License-Identifier: BSD-3-Clause
// offload.h - whether an operation is submitted here and now, or left to somebody else.
//
// Submitting inline costs s, the copy and the system call. Leaving it costs e, and w when the
// helper has to be woken first; with probability p a core is free and a helper picks it up after h,
// else it is submitted when the program waits, after having computed for C:
//   inline   s + C              left   e + w + C + p max(0, h + s - C) + (1 - p) s
// (Trahay, Denis, "A scalable and generic task scheduling system for communication libraries", and
// the future work of the event-driven engine: here both are measured, not assumed.) All inputs are
// learned from samples; docs/design/progress.md has what they came to.
#pragma once
#include <heddle/world.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "protocols/command.h"
#include "sync/cache_line.h"
#include "sync/counters.h"

namespace heddle::engine {

/// Counted for people: lane_counters of counters.h tells of each.
struct offload_counters {
  sync::shared_counter left;   ///< commands left for a helper
  sync::owned_counter picked;  ///< of these, what a helper executed
};

/// One lane's. Any thread; samples may overwrite each other.
class offload_model {
 public:
  /// Smaller operations are never worth handing over in mode adaptive ...
  static constexpr std::size_t least_bytes = 1024;
  /// ... and larger ones go by rendezvous, whose submission is cheap.
  static constexpr std::size_t classes = 10;

  explicit offload_model(progress_mode mode) noexcept
      : from_(mode == progress_mode::inline_only ? std::numeric_limits<std::size_t>::max()
              : mode == progress_mode::adaptive  ? least_bytes
                                                 : 0) {}

  /// False, for most: submit inline without another thought.
  [[nodiscard]] bool considers(std::size_t bytes) const noexcept { return bytes >= from_; }
  /// The least size that it considers.
  [[nodiscard]] std::size_t considered_from() const noexcept { return from_; }
  /// Mode adaptive: the verdict on an operation of this size. Now and then the other way is tried.
  [[nodiscard]] bool leave(std::size_t bytes) const noexcept;
  /// Whether this one is to be stamped.
  [[nodiscard]] bool samples() noexcept;

  // Samples, in nanoseconds.
  void submitted(std::size_t bytes, std::uint64_t ns) noexcept;
  void leaving(std::uint64_t now_ns) noexcept { stamped_at_ns_.set(now_ns); }
  void left(std::uint64_t ns, bool woke) noexcept;
  void picked_up(std::uint64_t now_ns, bool by_helper) noexcept;
  void computed(std::uint64_t ns) noexcept;

  /// The inputs as they are now.
  struct inputs {
    std::uint64_t leave_ns, wake_ns, pick_up_ns, compute_ns, helped_percent;
    std::array<std::uint64_t, classes> submit_ns;  ///< by size: 1 KiB, 2 KiB ...; 0: unknown
    std::uint64_t verdicts;                        ///< bit i: leave operations of that size
  };
  [[nodiscard]] inputs now() const noexcept;
  [[nodiscard]] offload_counters& counters() noexcept { return counters_; }
  [[nodiscard]] const offload_counters& counters() const noexcept { return counters_; }

 private:
  static std::size_t class_of(std::size_t bytes) noexcept;
  void judge() noexcept;
  [[nodiscard]] bool pays(std::size_t size_class, bool leaves_now) const noexcept;

  const std::size_t from_;
  sync::shared_counter asked_;
  sync::owned_counter verdicts_, leave_ns_, wake_ns_, pick_up_ns_, compute_ns_, helped_;
  sync::owned_counter stamped_at_ns_;
  std::array<sync::owned_counter, classes> submit_ns_;
  // Helpers write these all the time, and every thread that posts reads from_.
  alignas(sync::cache_line) offload_counters counters_;
};

}  // namespace heddle::engine
