// SPDX-License-Identifier: BSD-3-Clause
#include "engine/world_lanes.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"

namespace heddle::engine {

/// With mutex_ held.
lane_core& world_lanes::made(int number) {
  auto& slot = lanes_[at(number)];
  if (slot) return *slot;
  slot = make_(number);
  running_[at(number)].set(slot.get());
  end_.set(std::max<std::uint64_t>(end_.get(), at(number) + 1));
  changed_(number);
  return *slot;
}

lane_core& world_lanes::open(int number, bool exclusive) {
  const std::lock_guard lock(mutex_);
  if (number == -1) {
    const auto free =
        std::find_if(opened_.begin(), opened_.end(),
                     [](const sync::release_acquire_flag& taken) { return !taken.is_set(); });
    number = static_cast<int>(free - opened_.begin());
  }
  if (number < 0 || number >= max_lanes) {
    fail("open lane {}: lanes are numbered 0 to {}", number, max_lanes - 1);
  }
  if (opened(number)) {
    fail(
        "open lane {}: this process has opened it already; share that one, or use the next free "
        "number (-1)",
        number);
  }
  lane_core& lane = made(number);
  lane.open(exclusive && !(number == 0 && zero_is_shared_));
  opened_[at(number)].set();
  changed_(number);
  return lane;
}

void world_lanes::close(int number) noexcept {
  const std::lock_guard lock(mutex_);
  lanes_[at(number)]->close();
  opened_[at(number)].clear();
}

void world_lanes::provide(int number) {
  const std::lock_guard lock(mutex_);
  made(number);
}

void world_lanes::for_each(const std::function<void(lane_core&)>& f) {
  const std::lock_guard lock(mutex_);
  for (const auto& lane : lanes_)
    if (lane) f(*lane);
}

std::size_t world_lanes::serve(std::span<transport::device* const> devices) {
  for (transport::device* d : devices) {
    for (int number = d->serve(); number >= 0 && number < max_lanes; number = d->serve())
      wanted_.push_back(number);
  }
  return std::erase_if(wanted_, [this](int number) { return make_wanted(number); });
}

/// False: not now, for lack of descriptors perhaps. Meanwhile what peers send to the lane waits.
bool world_lanes::make_wanted(int number) noexcept {
  try {
    provide(number);
    return true;
  } catch (const std::exception& e) {
    if (!std::exchange(told_of_wanted_, true))
      log::error(log::subsystem::progress, "a peer uses lane {}, which cannot be made here: {}",
                 number, e.what());
    return false;
  }
}

std::size_t world_lanes::progress() noexcept {
  std::size_t count = 0;
  for_each_made([&](lane_core& lane) { count += lane.server().progress(); });
  return count;
}

bool world_lanes::moving() const noexcept {
  bool found = false;
  for_each_made([&](lane_core& lane) { found = found || lane.port().bytes_hint() != 0; });
  return found;
}

bool world_lanes::drained() noexcept {
  bool quiet = true;
  for_each_made([&](lane_core& lane) {
    lane.server().progress();
    lane.server().maintain(now_ns());
    quiet = quiet && lane.quiet();
  });
  return quiet;
}

bool world_lanes::end() noexcept {
  bool parted = true;
  for_each_made([](lane_core& lane) { lane.end(); });
  for_each_made([&](lane_core& lane) { parted = lane.part() && parted; });
  return parted;
}

void world_lanes::clear() noexcept {
  for (auto& lane : lanes_) lane.reset();
}

}  // namespace heddle::engine
