// SPDX-License-Identifier: BSD-3-Clause
#include "engine/lane_sleeper.h"

#include <algorithm>

#include "base/clock.h"
#include "sync/waker.h"
#include "tracing/recorder.h"

namespace heddle::engine {
namespace {

using protocols::delivery_batch;

/// A sleeper whom perhaps nobody wakes looks again after this long.
constexpr std::uint64_t look_again_ns = 1'000'000;

}  // namespace

void lane_sleeper::sleep(std::uint64_t deadline_ns, std::uint64_t backstop_ns,
                         bool follows) noexcept {
  const bool following = follows && leave_to_executor();
  const found there = following ? found::elsewhere : prepare();
  if (there == found::news) return;
  const bool armed = there == found::silence;
  descriptor_list& watched = descriptor_list::mine();
  watch(watched, armed);
  std::uint64_t limit = backstop_ns;
  const bool driven =
      driver_.help().dedicated() || following || armed;  // else who drives may leave
  const bool needed = driver_.help().keeper.is_shared_inline();
  if (!driven || needed || sync::thread_waker::mine().fd() < 0)
    limit = std::min(limit, look_again_ns);
  if (deadline_ns != 0) {
    const std::uint64_t now = now_ns();
    limit = deadline_ns > now ? std::min(limit, deadline_ns - now) : 0;
  }
  const bool told = sleep_on(watched, limit);
  if (!armed) return;
  driver_.parking().end_sleep();
  if (told || limit != backstop_ns) return;
  // This thread may have been kept from its core since the time was up.
  if (!watched.any_readable()) look_after_backstop();
}

/// True: something woke it.
bool lane_sleeper::sleep_on(descriptor_list& watched, std::uint64_t limit_ns) const {
  trace::span asleep(trace::event_kind::sleep, {driver_.where().self, driver_.where().lane}, false);
  const bool told = watched.sleep(limit_ns);
  asleep.set_amount(told ? 1 : 0);
  return told;
}

/// The thread's waker, and where there is `news` on the lane.
void lane_sleeper::watch(descriptor_list& watched, bool news) const {
  watched.clear();
  watched.add(sync::thread_waker::mine().fd());
  if (!news) return;
  for (const auto& e : driver_.port().endpoints().all()) watched.add(e->fd());
  watched.add(driver_.parking().bell());
  if (driver_.help().only_inline())
    for (const auto* d : driver_.where().devices) watched.add(d->fd());
}

/// Gets the lane ready for this thread to sleep on its descriptors. Another thread that drives it
/// wakes us by the signal we watch.
lane_sleeper::found lane_sleeper::prepare() noexcept {
  delivery_batch& batch = delivery_batch::mine();
  if (driver_.help().dedicated() || batch.running() || !driver_.hold().enter())
    return found::elsewhere;
  const bool others_poll =
      driver_.help().only_inline() && driver_.parking().state().polled_by_another(&batch);
  const found there = others_poll ? found::elsewhere : arm(batch);
  driver_.release_armed(batch);
  batch.run();
  return there;
}

/// Arms for this thread, and again for all that sleep already. News that comes while it arms, which
/// takes long enough for that, is found by a second look: nobody else would for a while.
lane_sleeper::found lane_sleeper::arm(delivery_batch& batch) noexcept {
  constexpr int looks = 2;
  for (int i = 0; i < looks; ++i) {
    if (driver_.port().progress(batch) != 0) {
      driver_.parking().disarm();
      return found::news;
    }
    if (driver_.port().arm()) {
      driver_.parking().begin_sleep();
      return found::silence;
    }
  }
  driver_.parking().disarm();
  return found::elsewhere;
}

/// Many wait on few cores: the executor sleeps on the descriptors for all of them, so that news
/// wakes one thread instead of all. False: the lane is held.
bool lane_sleeper::leave_to_executor() noexcept {
  delivery_batch& batch = delivery_batch::mine();
  if (batch.running() || !driver_.hold().enter()) return false;
  const bool wakes = !driver_.parking().executor_watches();
  if (wakes) driver_.parking().state().forget_polls();
  driver_.hold().give_back();
  driver_.release(batch);
  if (wakes) driver_.help().alarm.wake();
  batch.run();
  return true;
}

/// Nobody has woken this thread, so there should be no news. News counts as a rescue: the wake was
/// lost, or is late.
void lane_sleeper::look_after_backstop() noexcept {
  delivery_batch& batch = delivery_batch::mine();
  if (!driver_.hold().enter()) return;
  if (driver_.advance(batch) != 0) rescues_.next();
  driver_.release(batch);
  batch.run();
}

}  // namespace heddle::engine
