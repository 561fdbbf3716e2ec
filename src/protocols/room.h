// SPDX-License-Identifier: BSD-3-Clause
// room.h - how many operations a lane may have in flight, how many it has, and who waits until it
// may have one more.
#pragma once
#include <heddle/completion.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "protocols/delivery.h"
#include "sync/counters.h"

namespace heddle::protocols {

/// Threads: the holder of the lane, but for taken().
class room {
 public:
  explicit room(std::size_t most) noexcept : most_(most) {}

  /// No more of the program's operations are taken now.
  [[nodiscard]] bool full() const noexcept { return taken_.get() >= most_ && !must_take_; }
  [[nodiscard]] bool takes_all() const noexcept { return must_take_; }
  /// How much an honest peer can cause here of what each of its operations causes `each` times at
  /// most: it has no more of them than this rank may have.
  [[nodiscard]] std::size_t most_of_peer(std::size_t each) const noexcept {
    return std::max<std::size_t>(1 << 16, each * most_);
  }
  /// Until it is unset, more are taken: they were accepted when there was room.
  void must_take(bool all) noexcept { must_take_ = all; }

  /// An operation begins, or a receive that waits for its message.
  void take() noexcept { taken_.add(); }
  /// It ends, or waits no more.
  void give_back() noexcept { taken_.subtract(); }
  /// Any thread: how many there are. A hint.
  [[nodiscard]] std::size_t taken() const noexcept { return taken_.get(); }

  /// `done` ends by the first tell() that finds room.
  void wait(const completion& done) { waiting_.push_back(done); }
  [[nodiscard]] bool is_awaited() const noexcept { return !waiting_.empty(); }
  /// All who wait are told, if there is room.
  void tell(delivery_batch& out) {
    if (!full()) tell_all(out);
  }
  /// All who wait are told in any case: the lane ends.
  void tell_all(delivery_batch& out);

 private:
  const std::size_t most_;
  std::vector<completion> waiting_;
  bool must_take_ = false;
  sync::owned_counter taken_;  // written by the holder, read by anyone
};

}  // namespace heddle::protocols
