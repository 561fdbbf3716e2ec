// SPDX-License-Identifier: BSD-3-Clause
#include "engine/lane_waiter.h"

#include <sched.h>

#include <algorithm>
#include <thread>

#include "base/clock.h"
#include "sync/cache_line.h"

namespace heddle::engine {
namespace {

using protocols::delivery_batch;

/// Polls between two looks at the clock while waiting. The lane is held as long.
constexpr int polls_per_turn = 32;
/// As many empty polls make a turn when others may need the core.
constexpr int empty_polls_when_patient = 2;
/// Looks at what an executor on another core is to raise, before this one is given away: as long as
/// giving it away and getting it back may take, a few microseconds.
constexpr int looks_at_executor = 256;
/// A sleeper looks again after this long even when nothing wakes it, at first and at most.
constexpr std::uint64_t first_backstop_ns = 4'000'000;
/// Stands for no limit.
constexpr std::uint64_t year_ns = 365ull * 24 * 3600 * 1'000'000'000;
/// How often the end of the world looks whether the threads that wait have gone.
constexpr int looks_for_waiters = 1000;

/// Data on the way is waited for awake as long as it may take at 4 GB/s: to sleep and be woken in
/// the middle of a copy costs more than the rest of it.
std::uint64_t time_to_move(std::uint64_t bytes) noexcept {
  constexpr std::uint64_t longest_ns = 1'000'000;
  return std::min(bytes / 4, longest_ns);
}

/// Returns for how long.
std::uint64_t give_core_away(std::uint64_t now) noexcept {
  std::this_thread::yield();
  return now_ns() - now;
}

}  // namespace

/// Somebody else may need this core before there is news: a thread of the program, or, while data
/// is on the way, an executor that moves it.
[[gnu::always_inline]] inline bool lane_waiter::patient() const noexcept {
  return crowded() || driver_.port().bytes_hint() != 0;
}

[[gnu::always_inline]] inline std::size_t lane_waiter::poll_turn(const detail::signal& s,
                                                                 std::uint64_t target,
                                                                 delivery_batch& batch,
                                                                 bool gathers) noexcept {
  const bool short_turns = patient() || driver_.help().ranks_per_core > 1;
  const int patience = short_turns ? empty_polls_when_patient : polls_per_turn;
  std::size_t events = 0;
  int polls = 0, empty = 0;
  do {
    if (driver_.commands().pending() && !driver_.drain(batch)) break;
    const std::size_t more = driver_.advance(batch);
    events += more;
    if ((!batch.empty() && (!gathers || more == 0)) || s.count() >= target) break;
    empty = more != 0 ? 0 : empty + 1;
  } while (++polls < polls_per_turn && empty < patience);
  return events;
}

void lane_waiter::poll_at_once(const detail::signal& s, delivery_batch& batch) noexcept {
  if (!alone()) return;
  driver_.parking().state().note_poll(&batch);
  poll_turn(s, 1, batch, false);
}

/// The program begins to wait. The model learns how long it has computed since it left a transfer.
void lane_waiter::note_wait() noexcept {
  driver_.model().computed(habit_.wait(now_ns()));
}

bool lane_waiter::wait_on(detail::signal& s, std::uint64_t target,
                          std::uint64_t deadline_ns) noexcept {
  if (alone() && (drive(s, target), s.count() >= target)) return true;  // mostly, so first of all
  return wait_long(s, target, deadline_ns);
}

bool lane_waiter::wait_long(detail::signal& s, std::uint64_t target,
                            std::uint64_t deadline_ns) noexcept {
  const sync::thread_waker& waker = sync::thread_waker::mine();
  const std::uint64_t backstop_ms = driver_.where().config->backstop_ms;
  const std::uint64_t longest_ns = backstop_ms != 0 ? backstop_ms * 1'000'000 : year_ns;
  std::uint64_t backstop_ns = backstop_ms != 0 ? first_backstop_ns : year_ns;
  const sync::counted_in counted(waiting_);
  if (const spun first = spin(s, target, deadline_ns); first.over) {
    courtesy_.came(first.after_gift);
    return true;
  }
  do {
    if (deadline_ns != 0 && now_ns() >= deadline_ns) return false;
    if (parted_.is_set()) return s.count() >= target;
    if (s.watch(waker.id(), target) < target)
      sleeper_.sleep(deadline_ns, backstop_ns, executor_polls());
    s.unwatch(waker.id());
    waker.clear();
    backstop_ns = std::min(2 * backstop_ns, longest_ns);
  } while (!spin(s, target, deadline_ns).over);
  return true;
}

/// How long this thread looks without news before it gives its core away. Its peers are told on
/// which core it waits.
std::uint64_t lane_waiter::look_ns() noexcept {
  if (driver_.help().dedicated() || !driver_.hold().enter()) return courtesy::for_ever;
  const bool shared = driver_.port().endpoints().shares_core(sched_getcpu());
  delivery_batch& batch = delivery_batch::mine();
  driver_.release(batch);  // which may have executed what others have queued meanwhile
  batch.run();
  if (!shared) courtesy_.alone();
  return courtesy_.look_ns(shared);
}

/// Polls until `s` has counted to `target`, or nothing has happened for the spin budget, in which
/// the time of peers that were let run does not count.
lane_waiter::spun lane_waiter::spin(detail::signal& s, std::uint64_t target,
                                    std::uint64_t deadline_ns) noexcept {
  std::uint64_t end = 0, quiet_since = 0;
  bool let_run = false;
  for (;;) {
    const std::size_t events = drive(s, target);
    if (s.count() >= target) return {true, let_run};
    if (parted_.is_set() || (events == 0 && executor_polls())) return {false, let_run};
    const std::uint64_t look = events == 0 ? look_ns() : courtesy::for_ever;
    std::uint64_t now = now_ns();
    if (end == 0 || events != 0) {
      end = now + driver_.help().spin_ns + time_to_move(driver_.port().bytes_hint());
      quiet_since = now;
    }
    if (events == 0 && (patient() || now - quiet_since >= look)) {
      const bool shared = look != courtesy::for_ever;
      driver_.parking().set_away(shared);
      const std::uint64_t away = give_core_away(now);
      if (shared) {
        driver_.parking().set_away(false);
        end += away;
      }
      now += away;
      let_run = let_run || away > courtesy::lone_yield_ns;
    }
    if (now >= end || (deadline_ns != 0 && now >= deadline_ns)) return {false, let_run};
  }
}

/// A turn of polling. The lane is held throughout, so that an empty poll costs no exchange and what
/// others want is executed at once, until there is something to deliver. Where others wait on
/// cores of their own, until nothing more comes: who holds next has to fetch all that a lane is
/// made of from this core. Returns the events.
std::size_t lane_waiter::drive(const detail::signal& s, std::uint64_t target) noexcept {
  const helpers& help = driver_.help();
  delivery_batch& batch = delivery_batch::mine();
  if (help.only_inline()) help.keeper.serve_inline();
  if (help.dedicated() || batch.running() || !driver_.hold().enter()) {
    look_on(s, target);
    return 0;
  }
  std::size_t events = 0;
  if (executor_polls() && driver_.parking().executor_watches()) {
    (void)driver_.drain(batch);
  } else {
    driver_.parking().state().note_poll(&batch);
    events = poll_turn(s, target, batch, threads() > 1 && !crowded());
  }
  driver_.release(batch);
  return events + batch.run();
}

/// Someone else drives: its turn raises s, and it may need this core for that. A dedicated executor
/// that is tied to another one does not.
void lane_waiter::look_on(const detail::signal& s, std::uint64_t target) const noexcept {
  const helpers& help = driver_.help();
  const bool apart = help.dedicated() && help.keeper.keeps_to_another(sched_getcpu());
  const int looks = apart ? looks_at_executor : polls_per_turn;
  for (int i = 0; i < looks && s.count() < target; ++i) sync::relax();
  help.boost();
  if (s.count() < target) std::this_thread::yield();
}

bool lane_waiter::part() noexcept {
  parted_.set(true);
  for (int i = 0; i < looks_for_waiters && threads() != 0; ++i) std::this_thread::yield();
  return threads() == 0;
}

}  // namespace heddle::engine
