// SPDX-License-Identifier: BSD-3-Clause
// courtesy.h - when a waiting thread gives its core to a peer that waits on the same one.
#pragma once
#include <cstdint>

#include "sync/loose.h"

namespace heddle::engine {

/// One lane's. Any thread; the threads of a lane may overwrite each other's samples, which decide
/// when something happens, never what.
///
/// A peer on another core answers while one looks, and a look is cheaper than two switches of
/// threads. A peer on this core answers only when it gets the core. Which of the two a lane waits
/// for is learned: after a few waits that were over only when the core had been given away, it is
/// given away at once, and now and then looked first whether that is still needed.
class courtesy {
 public:
  /// How long a thread looks before it gives its core away: about two switches of threads.
  static constexpr std::uint64_t look_ns = 1'000;
  /// Who gave its core away for longer than this has let another thread run.
  static constexpr std::uint64_t lone_yield_ns = 700;

  /// `cores` is this rank's share of the host's.
  explicit courtesy(int cores) noexcept : cores_(cores) { awake_.set(cores); }

  /// So many threads may wait awake without giving their cores away: none, or as many as there are
  /// cores.
  [[nodiscard]] int awake() const noexcept { return awake_.get(); }
  [[nodiscard]] bool at_once() const noexcept { return awake() == 0; }
  /// A wait is over, in which another thread was let run, or not.
  void came(bool after_a_gift) noexcept { learn(after_a_gift ? in_a_row_.get() + 1 : 0); }
  /// No peer waits on this core.
  void alone() noexcept {
    if (in_a_row_.get() != 0) learn(0);
  }

 private:
  static constexpr int believed = 4;        // so many gifts in a row were needed
  static constexpr int between_looks = 16;  // then every so many waits begin with a look

  void learn(int in_a_row) noexcept {
    in_a_row_.set(in_a_row);
    awake_.set(in_a_row >= believed && in_a_row % between_looks != 0 ? 0 : cores_);
  }

  const int cores_;
  sync::loose<int> in_a_row_;  // waits that needed a gift
  sync::loose<int> awake_;
};

}  // namespace heddle::engine
