// window.h - keeps a bounded number of operations in flight, and knows which buffers are free.
#pragma once
#include <heddle/heddle.h>

#include <array>
#include <cstddef>

#include "bench/locked_lane.h"
#include "bench/station.h"

namespace heddle::bench {

/// Posts operations one by one, at most `size` in flight. Slots come in groups; a group's slots are
/// used again when all of its operations have ended, so that a slot's buffer is never lent twice
/// and no flag per operation is needed. One thread.
class window {
 public:
  window(locked_lane on, int size) : lane_(on) {
    const auto wanted = static_cast<std::size_t>(size);
    per_group_ = wanted < groups_.size() ? 1 : wanted / groups_.size();
    used_groups_ = wanted < groups_.size() ? wanted : groups_.size();
  }
  window(const window&) = delete;
  window& operator=(const window&) = delete;
  /// How many slots there are.
  [[nodiscard]] std::size_t slots() const noexcept { return per_group_ * used_groups_; }

  /// Calls `attempt(completion, slot)`, in a turn of the lane, until accepted. Throws
  /// std::runtime_error on refusal.
  template <class F>
  void post(F&& attempt) {
    for (unsigned refusals = 0;; ++refusals) {
      group& g = groups_[current_];
      const status s = lane_.turn(
          [&] { return attempt(completion(g.ended), current_ * per_group_ + in_group_); });
      if (s == status::done) [[likely]]
        return;
      if (s == status::posted) return advance(g);
      if (!is_busy(s)) require(s, "post");
      make_room(refusals);
    }
  }
  /// Waits until nothing is in flight.
  void drain() {
    for (group& g : groups_) finish(g);
  }

 private:
  struct group {
    counter ended;
    std::uint64_t posted = 0;
  };

  void advance(group& g) {
    ++g.posted;
    if (++in_group_ < per_group_) return;
    in_group_ = 0;
    current_ = (current_ + 1) % used_groups_;
    finish(groups_[current_]);
  }
  void finish(group& g) { require(lane_.wait(g.ended, g.posted), "complete"); }
  void make_room(unsigned refusals) {
    if (refusals % 64 != 63) {
      lane_.poll();
      return;
    }
    flag room;
    lane_.when_ready(room);
    require(lane_.wait(room), "wait for room");
  }

  locked_lane lane_;
  std::array<group, 4> groups_;
  std::size_t per_group_ = 1;
  std::size_t used_groups_ = 1;
  std::size_t current_ = 0;
  std::size_t in_group_ = 0;
};

}  // namespace heddle::bench
