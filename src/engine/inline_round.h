// SPDX-License-Identifier: BSD-3-Clause
// inline_round.h - the worlds of a rank in mode inline, which keep each other going.
//
// There only threads that poll or wait move anything. One that waits in a world would leave the
// others alone, and with them the message that its peer waits for before it goes on in this one.
#pragma once
#include <vector>

#include "sync/counters.h"
#include "sync/sequential.h"

namespace heddle::engine {

class executor;

/// Their executors. Shared by the worlds that are beside each other. Any thread.
class inline_round {
 public:
  inline_round() { free_.set(true); }

  void add(executor& e);
  /// Idempotent. Nobody is at `e` afterwards, so not in a callback.
  void remove(executor& e) noexcept;
  /// Does the duties of all but `own`, unless somebody is at it; costs one load if there are none.
  void serve_others(const executor& own) noexcept;
  [[nodiscard]] bool has_several() const noexcept { return members_.get() > 1; }

 private:
  class turn;  // at the list

  // Nobody is at the list. A lock that a callback finds taken, and leaves.
  sync::sequential_flag free_;
  std::vector<executor*> executors_;
  sync::owned_counter members_;  // as many
};

}  // namespace heddle::engine
