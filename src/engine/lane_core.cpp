// SPDX-License-Identifier: BSD-3-Clause
#include "engine/lane_core.h"

#include <cstdint>
#include <utility>

#include "base/clock.h"
#include "sync/asymmetric.h"

namespace heddle::engine {

using protocols::delivery_batch;

lane_core::lane_core(int number, const protocols::surroundings& where,
                     std::vector<std::unique_ptr<transport::endpoint>> endpoints,
                     const helpers& help)
    : driver_(*this, where, std::move(endpoints), help),
      end_(driver_),
      server_(driver_),
      waiter_(driver_),
      submitter_(driver_, waiter_, server_, end_),
      questions_(driver_, server_, end_),
      user_({where.self, number}) {}

void lane_core::open(bool exclusive) noexcept {
  user_.open(exclusive);
  if (driver_.help().dedicated()) return;
  lane_hold& hold = driver_.hold();
  while (!hold.enter()) driver_.give_way();
  hold.give_back();
  if (exclusive && sync::enable_asymmetric_here() && hold.lend(sync::this_thread())) return;
  hold.abandon();
  if (hold.commands().pending()) driver_.help().alarm.wake();
}

bool lane_core::quiet() noexcept {
  if (!driver_.hold().enter()) return false;
  delivery_batch& batch = delivery_batch::mine();
  const bool found = driver_.port().quiet() && !driver_.commands().pending();
  driver_.release(batch);
  batch.run();
  return found;
}

void lane_core::end() noexcept {
  end_.come(delivery_batch::mine());
}

void lane_core::count(lane_counters& into) const noexcept {
  const offload_counters& help = driver_.model().counters();
  driver_.port().census().count(into);
  into.waiting_threads = static_cast<std::uint64_t>(waiter_.threads());
  into.left = help.left.get();
  into.helped = help.picked.get();
  into.rescues = waiter_.sleeper().rescues();
}

void lane_core::make_room() noexcept {
  /// While the lane has no room, others are given this long to make some.
  constexpr std::uint64_t room_wait_ns = 20'000;
  if (questions_.poll() != 0) return;
  detail::signal nothing;
  waiter_.wait(nothing, 1, now_ns() + room_wait_ns);
}

bool lane_core::part() noexcept {
  if (!waiter_.part()) return false;
  driver_.port().close();
  return true;
}

}  // namespace heddle::engine
