// SPDX-License-Identifier: BSD-3-Clause
// placed_calls.h - calls whose handler chooses where their payload goes: told when that is there.
#pragma once
#include <heddle/heddle.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <utility>
#include <vector>

namespace heddle::fuzz {

/// Of one rank. Outlives its world.
class placed_calls {
 public:
  /// `whole` hears of each call with all of its payload, on any thread. `lane_of` finds a lane by
  /// its number.
  placed_calls(std::function<void(const call_message&)> whole, std::function<lane&(int)> lane_of)
      : whole_(std::move(whole)), lane_of_(std::move(lane_of)) {}

  /// The header handler; its context is an object of this class.
  static void arrive(void* self, lane& here, const arriving_call& call) noexcept;

 private:
  struct arrival {
    placed_calls* of;
    rank source;
    int lane, here;
    std::vector<std::byte> header, payload;
    matched_message from;
    std::list<arrival>::iterator self{};
  };
  void receive(arrival& a, lane& here) noexcept;
  static void try_again(void* which, std::uint64_t, const outcome& what) noexcept;
  static void end(void* which, std::uint64_t, const outcome& what) noexcept;
  void forget(arrival& a);

  const std::function<void(const call_message&)> whole_;
  const std::function<lane&(int)> lane_of_;
  std::mutex mutex_;
  std::list<arrival> arrivals_;  // under mutex_
};

}  // namespace heddle::fuzz
