// SPDX-License-Identifier: BSD-3-Clause
// world_lanes.h - the lanes of a world: those that the program opens, and those that peers ask for.
#pragma once
#include <heddle/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "engine/lane_core.h"
#include "sync/counters.h"
#include "sync/release_acquire.h"
#include "transport/device.h"

namespace heddle::engine {

/// One per world. Any thread, except where said. A lane that was made stays, for peers and for the
/// next who opens it, until the world has gone.
class world_lanes {
 public:
  /// How a lane of some number comes to be; throws error. Asked once per number, by one thread at a
  /// time.
  using maker = std::function<std::unique_ptr<lane_core>(int number)>;
  /// Told when a lane was made or opened.
  using listener = std::function<void(int number)>;

  /// `zero_is_shared`: the ranks meet on lane 0, from whichever thread of the program.
  world_lanes(maker make, listener changed, bool zero_is_shared)
      : make_(std::move(make)), changed_(std::move(changed)), zero_is_shared_(zero_is_shared) {}

  /// A lane for the program: -1 for the next free number. Throws error: taken, out of range, or it
  /// cannot be made.
  lane_core& open(int number, bool exclusive);
  /// Frees the number.
  void close(int number) noexcept;
  /// A lane for peers, whether the program opens it or not. Throws error.
  void provide(int number);
  [[nodiscard]] bool opened(int number) const noexcept { return opened_[at(number)].is_set(); }
  [[nodiscard]] lane_core& zero() const noexcept { return *running_.front().get(); }

  /// Under the lock that making takes.
  void for_each(const std::function<void(lane_core&)>& f);
  /// Without it: those that have been made when it comes to them.
  template <class F>
  void for_each_made(const F& f) const {
    for (std::size_t i = 0; i < end_.get(); ++i)
      if (lane_core* const lane = running_[i].get(); lane != nullptr) f(*lane);
  }

  /// Set-up work of `devices`, and the lanes that peers ask them for; how many were made. One
  /// thread at a time.
  std::size_t serve(std::span<transport::device* const> devices);
  /// Every lane once, where nobody else is at it; what that moved. Never blocks.
  std::size_t progress() noexcept;
  /// Data is on the way on some lane.
  [[nodiscard]] bool moving() const noexcept;
  /// Moves every lane at the world's end; whether everything given to them has left.
  [[nodiscard]] bool drained() noexcept;
  /// Ends them all. False: a thread still sleeps on descriptors of a lane's endpoints.
  [[nodiscard]] bool end() noexcept;
  /// When no thread uses any.
  void clear() noexcept;

 private:
  static constexpr std::size_t at(int number) noexcept { return static_cast<std::size_t>(number); }
  lane_core& made(int number);
  bool make_wanted(int number) noexcept;

  const maker make_;
  const listener changed_;
  const bool zero_is_shared_;
  std::mutex mutex_;
  std::array<std::unique_ptr<lane_core>, max_lanes> lanes_;           // guarded by mutex_
  std::array<sync::release_acquire<lane_core*>, max_lanes> running_;  // the same, for all threads
  std::array<sync::release_acquire_flag, max_lanes> opened_;
  sync::owned_counter end_;  // behind the highest one

  // One thread at a time: whoever serves the devices.
  std::vector<int> wanted_;      // by peers, and not made yet
  bool told_of_wanted_ = false;  // that one cannot be made
};

}  // namespace heddle::engine
