// lane_wait.cpp - how a thread of the program waits: driving the lane, looking on, asleep.
#include <sys/eventfd.h>

#include <algorithm>
#include <thread>

#include "base/clock.h"
#include "engine/descriptor_list.h"
#include "engine/executor.h"
#include "engine/idle_team.h"
#include "engine/lane_core.h"
#include "sync/cache_line.h"
#include "sync/waker.h"

namespace heddle::engine {
namespace {

using protocols::delivery_batch;

/// A wait that begins so soon after a transfer was posted had nothing to compute before.
constexpr std::uint64_t at_once_ns = 20'000;
constexpr std::uint64_t believed_waits = 3;
/// Polls between two looks at the clock while waiting. The lane is held as long.
constexpr int polls_per_turn = 32;
/// As many empty polls make a turn when others may need the core.
constexpr int empty_polls_when_patient = 2;
/// A sleeper looks again after this long even when nothing wakes it, at first and at most.
constexpr std::uint64_t first_backstop_ns = 4'000'000;
/// The same for a sleeper whom perhaps nobody wakes.
constexpr std::uint64_t look_again_ns = 1'000'000;
/// Stands for no limit.
constexpr std::uint64_t year_ns = 365ull * 24 * 3600 * 1'000'000'000;

/// Data on the way is waited for awake as long as it may take at 4 GB/s: to sleep and be woken in
/// the middle of a copy costs more than the rest of it.
std::uint64_t time_to_move(std::uint64_t bytes) noexcept {
  constexpr std::uint64_t longest_ns = 1'000'000;
  return std::min(bytes / 4, longest_ns);
}

/// Counts a thread while it is here.
struct presence {
  explicit presence(sync::agreed_count& c) : count(c) { count.add(1); }
  ~presence() { count.add(-1); }
  sync::agreed_count& count;
};

}  // namespace

/// More threads wait now and then than there are cores: who waits awake takes one from others.
bool lane_core::crowded() const noexcept {
  return sync::thread_waker::threads() > help_.cores;
}

/// Somebody else may need this core before there is news: a thread of the program, or, while data
/// is on the way, an executor that moves it.
bool lane_core::patient() const noexcept {
  return crowded() || port_.bytes_hint() != 0;
}

/// The news on the lane is for this thread, as far as it knows.
bool lane_core::alone() const noexcept {
  return waiting_.get() == 0 && !dedicated();
}

/// A blocking form goes on to poll in the turn of the lane in which it posted.
void lane_core::poll_at_once(const detail::signal& s, delivery_batch& batch) noexcept {
  if (!alone()) return;
  park_.note_poll(&batch);
  poll_turn(s, 1, batch);
}

bool lane_core::executor_polls() const noexcept {
  return waiting_.get() > 1 && crowded() && !dedicated() && !only_inline();
}

/// The executor sleeps on the descriptors: there is no news, or it is about to look.
bool lane_core::executor_watches() const noexcept {
  return park_.now() == sync::parking<>::state::watched;
}

/// The program begins to wait. The model learns how long it has computed since it left a transfer.
void lane_core::note_wait() noexcept {
  const std::uint64_t left = left_at_ns_.get();
  if (left == 0) [[likely]]
    return;
  left_at_ns_.set(0);
  const std::uint64_t computed = now_ns() - left;
  model_.computed(computed);
  waits_at_once_.set(computed < at_once_ns ? std::min(waits_at_once_.get() + 1, believed_waits)
                                           : 0);
}

bool lane_core::wait(detail::signal& s, std::uint64_t target, std::uint64_t deadline_ns) noexcept {
  note_wait();
  if (s.count() >= target) return true;
  if (alone() && (drive(s, target), s.count() >= target)) return true;  // mostly, so first of all
  const sync::thread_waker& waker = sync::thread_waker::mine();
  const std::uint64_t backstop_ms = where_.config->backstop_ms;
  const std::uint64_t longest_ns = backstop_ms != 0 ? backstop_ms * 1'000'000 : year_ns;
  std::uint64_t backstop_ns = backstop_ms != 0 ? first_backstop_ns : year_ns;
  const presence counted(waiting_);
  while (!spin(s, target, deadline_ns)) {
    if (deadline_ns != 0 && now_ns() >= deadline_ns) return false;
    if (parted_.is_set()) return s.count() >= target;
    if (s.watch(waker.id(), target) < target) sleep_until_event(deadline_ns, backstop_ns);
    s.unwatch();
    waker.clear();
    backstop_ns = std::min(2 * backstop_ns, longest_ns);
  }
  return true;
}

/// Polls until `s` has counted to `target`, or nothing has happened for the spin budget.
bool lane_core::spin(detail::signal& s, std::uint64_t target, std::uint64_t deadline_ns) noexcept {
  std::uint64_t end = 0;
  for (;;) {
    const std::size_t events = drive(s, target);
    if (s.count() >= target) return true;
    if (parted_.is_set()) return false;
    if (events == 0 && patient()) {
      if (executor_polls()) return false;
      std::this_thread::yield();
    }
    const std::uint64_t now = now_ns();
    if (end == 0 || events != 0) end = now + help_.spin_ns + time_to_move(port_.bytes_hint());
    if (now >= end || (deadline_ns != 0 && now >= deadline_ns)) return false;
  }
}

/// A turn of polling. The lane is held throughout, so that an empty poll costs no exchange and what
/// others want is executed at once, until there is something to deliver. Returns the events.
std::size_t lane_core::drive(const detail::signal& s, std::uint64_t target) noexcept {
  delivery_batch& batch = delivery_batch::mine();
  if (only_inline()) helper().serve_inline();
  if (dedicated() || batch.running() || !hold_.enter(&batch)) {
    look_on(s, target);
    return 0;
  }
  std::size_t events = 0;
  if (executor_polls() && executor_watches()) {
    (void)drain(batch);
  } else {
    park_.note_poll(&batch);
    events = poll_turn(s, target, batch);
  }
  release(batch);
  return events + batch.run();
}

std::size_t lane_core::poll_turn(const detail::signal& s, std::uint64_t target,
                                 delivery_batch& batch) noexcept {
  const int patience = patient() ? empty_polls_when_patient : polls_per_turn;
  std::size_t events = 0;
  for (int i = 0, empty = 0; i < polls_per_turn && empty < patience; ++i, ++empty) {
    if (!batch.empty() || s.count() >= target) break;
    if (hold_.commands().pending() && !drain(batch)) break;
    const std::size_t more = advance(batch);
    events += more;
    if (more != 0) empty = -1;
  }
  return events;
}

/// Someone else drives: its turn raises s, and it may need this core for that.
void lane_core::look_on(const detail::signal& s, std::uint64_t target) const noexcept {
  for (int i = 0; i < polls_per_turn && s.count() < target; ++i) sync::relax();
  if (help_.team != nullptr) help_.team->boost();
  if (s.count() < target) std::this_thread::yield();
}

/// Gets the lane ready for this thread to sleep on its descriptors. False: there is work, or
/// another thread drives the lane and will wake us by the signal we watch, or has polled lately.
bool lane_core::prepare_wait() noexcept {
  delivery_batch& batch = delivery_batch::mine();
  if (dedicated() || batch.running() || !hold_.enter(&batch)) return false;
  const bool others_poll = only_inline() && park_.polled_by_another(&batch);
  const bool idle = !others_poll && park(batch);
  release(batch);
  batch.run();
  return idle;
}

/// Many wait on few cores: the executor sleeps on the descriptors for all of them, so that news
/// wakes one thread instead of all. False: the lane is held.
bool lane_core::sleep_behind_executor() noexcept {
  delivery_batch& batch = delivery_batch::mine();
  if (batch.running() || !hold_.enter(&batch)) return false;
  const bool wakes = !executor_watches();
  if (wakes) park_.forget_polls();
  release(batch);
  if (wakes) helper().wake();
  batch.run();
  return true;
}

/// Arms for this thread, and again for all that sleep already. False: there was something to do.
bool lane_core::park(delivery_batch& batch) noexcept {
  if (port_.progress(batch) != 0 || !port_.arm()) {
    disarm();
    return false;
  }
  eventfd_t rung = 0;
  if (bell_) eventfd_read(bell_.get(), &rung);
  park_.add_sleeper();
  return true;
}

void lane_core::sleep_until_event(std::uint64_t deadline_ns, std::uint64_t backstop_ns) noexcept {
  const bool following = executor_polls() && sleep_behind_executor();
  const bool driving = !following && prepare_wait();
  std::uint64_t limit = backstop_ns;
  descriptor_list& watched = descriptor_list::mine();
  watched.clear();
  watched.add(sync::thread_waker::mine().fd());
  if (driving) {
    for (const auto& e : port_.endpoints()) watched.add(e->fd());
    watched.add(bell_.get());
    if (only_inline())
      for (const auto* d : where_.devices) watched.add(d->fd());
  }
  const bool driven = dedicated() || following || driving;  // else the driver may leave any time
  if (!driven || sync::thread_waker::mine().fd() < 0) limit = std::min(limit, look_again_ns);
  if (deadline_ns != 0) {
    const std::uint64_t now = now_ns();
    limit = deadline_ns > now ? std::min(limit, deadline_ns - now) : 0;
  }
  const bool told = watched.sleep(limit);
  if (!driving) return;
  park_.remove_sleeper();
  helper().wake_deep();  // it may rest because we slept here
  if (told || limit != backstop_ns) return;
  // This thread may have been kept from its core since the time was up.
  if (!watched.any_readable()) look_after_backstop();
}

/// Nobody has woken this thread, so there should be no news. News counts as a rescue: the wake was
/// lost, or is late.
void lane_core::look_after_backstop() noexcept {
  delivery_batch& batch = delivery_batch::mine();
  if (!hold_.enter(&batch)) return;
  if (advance(batch) != 0) counters_.rescues.next();
  release(batch);
  batch.run();
}

}  // namespace heddle::engine
