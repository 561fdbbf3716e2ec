// SPDX-License-Identifier: BSD-3-Clause
// courtesy.h - when a waiting thread gives its core to a peer that waits on the same one.
#pragma once
#include <algorithm>
#include <cstdint>

#include "sync/relaxed.h"

namespace heddle::engine {

/// One lane's. Any thread; the threads of a lane may overwrite each other's samples, which decide
/// when something happens, never what.
///
/// A peer on another core answers while one looks, and a look is cheaper than two switches of
/// threads. A peer on this core answers only when it gets the core. Which of the two a lane waits
/// for is learned: after a few waits that were over only when the core had been given away, it is
/// given away at once, and now and then looked first whether that is still needed.
///
/// With more ranks than cores those on this core may be others than the one that is to answer. Then
/// a thread always looks first, and for longer where they are few, so that two ranks that run at
/// the same time do not part at an answer that is a little late. Where they are many, it is their
/// looks that one waits for.
class courtesy {
 public:
  static constexpr std::uint64_t for_ever = ~std::uint64_t{0};
  /// Who gave its core away for longer than this has let another thread run.
  static constexpr std::uint64_t lone_yield_ns = 700;

  /// `cores` is this rank's share of the host's.
  courtesy(int cores, int ranks_per_core) noexcept
      : cores_(cores), ranks_per_core_(ranks_per_core) {
    awake_.set(cores);
  }

  /// So many threads may wait awake without giving their cores away: none, or as many as there are
  /// cores.
  [[nodiscard]] int awake() const noexcept { return awake_.get(); }
  [[nodiscard]] bool at_once() const noexcept { return awake() == 0; }
  /// How long a thread looks before it gives its core away, given whether a peer waits there.
  [[nodiscard]] std::uint64_t look_ns(bool shared) const noexcept {
    constexpr std::uint64_t two_switches = 1'000, looks_of_all = 16'000;
    if (!crowded()) return shared ? two_switches : for_ever;
    return std::max(two_switches, looks_of_all / static_cast<std::uint64_t>(ranks_per_core_));
  }
  /// A wait is over, in which another thread was let run, or not.
  void came(bool after_a_gift) noexcept { learn(after_a_gift ? in_a_row_.get() + 1 : 0); }
  /// No peer waits on this core.
  void alone() noexcept {
    if (in_a_row_.get() != 0) learn(0);
  }

 private:
  static constexpr int believed = 4;        // so many gifts in a row were needed
  static constexpr int between_looks = 16;  // then every so many waits begin with a look

  [[nodiscard]] bool crowded() const noexcept { return ranks_per_core_ > 1; }
  void learn(int in_a_row) noexcept {
    in_a_row_.set(in_a_row);
    const bool needed = in_a_row >= believed && in_a_row % between_looks != 0;
    awake_.set(needed && !crowded() ? 0 : cores_);
  }

  const int cores_;
  const int ranks_per_core_;
  sync::relaxed<int> in_a_row_;  // waits that needed a gift
  sync::relaxed<int> awake_;
};

}  // namespace heddle::engine
