// SPDX-License-Identifier: BSD-3-Clause
// lane_user.h - who has opened a lane, and what HEDDLE_CHECKS asks about who uses it.
#pragma once
#include <cstdint>

#include "sync/counters.h"
#include "sync/misuse.h"
#include "sync/release_acquire.h"

namespace heddle::engine {

class lane_user {
 public:
  explicit lane_user(sync::place where) noexcept : place_(where) {}

  // --- whoever opens the lane, one at a time -----------------------------------------------
  void open(bool exclusive) noexcept;
  void close() noexcept { user_.set(nobody); }
  /// The core of the thread that opened it last; -1: none has.
  [[nodiscard]] int core() const noexcept { return core_; }

  // --- any thread --------------------------------------------------------------------------
  [[nodiscard]] sync::place place() const noexcept { return place_; }
  [[nodiscard]] bool exclusive() const noexcept { return user_.get() > anybody; }
  /// The thread that opened it last; 0: none has.
  [[nodiscard]] std::uint64_t opener() const noexcept { return opener_.get(); }
  /// Under HEDDLE_CHECKS. End the program unless the calling thread may use the lane, or wait on
  /// it.
  void check_use() const noexcept;
  void check_wait() const noexcept;

 private:
  static constexpr std::uintptr_t nobody = 0, anybody = 1;

  const sync::place place_;
  sync::release_acquire<std::uintptr_t> user_{nobody};  // the thread that may use it, by its batch
  sync::owned_counter opener_;
  int core_ = -1;
};

}  // namespace heddle::engine
