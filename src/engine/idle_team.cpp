// SPDX-License-Identifier: BSD-3-Clause
#include "engine/idle_team.h"

#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/clock.h"
#include "base/error.h"
#include "base/own_thread.h"
#include "engine/world_lanes.h"
#include "tracing/recorder.h"

namespace heddle::engine {
namespace {

/// Data on the way is waited for awake so long after the last event; then the executor tells.
constexpr std::uint64_t awake_while_moving_ns = 1'000'000;

void run_when_idle(pid_t thread, bool idle) noexcept {
  const sched_param none{};
  sched_setscheduler(thread, idle ? SCHED_IDLE : SCHED_OTHER, &none);
}

}  // namespace

idle_team::idle_team(world_lanes& lanes, std::uint64_t spin_ns)
    : lanes_(lanes),
      spin_ns_(spin_ns),
      bell_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE)) {
  if (!bell_) fail_errno(errno, "start idle helpers: no descriptors left (ulimit -n)");
}

idle_team::~idle_team() {
  stop();
}

void idle_team::start(int threads) {
  for (int i = 0; i < threads; ++i) {
    member& m = *members_.emplace_back(std::make_unique<member>());
    m.thread = start_thread("heddle-idle", [this, &m] { run(m); });
  }
}

void idle_team::stop() {
  stop_.set();
  for (auto& m : members_) {
    if (!m->thread.joinable()) continue;  // could not be started, or has ended before
    eventfd_write(bell_.get(), 1);
    if (const auto id = static_cast<pid_t>(m->id.get()); id != 0) run_when_idle(id, false);
  }
  for (auto& m : members_)
    if (m->thread.joinable()) m->thread.join();
}

void idle_team::wake() noexcept {
  if (!asleep_.take()) return;
  wakes_.next();
  eventfd_write(bell_.get(), 1);
}

void idle_team::boost() noexcept {
  for (auto& m : members_) {
    if (!m->working.is_set() || m->boosted.is_set()) continue;
    run_when_idle(static_cast<pid_t>(m->id.get()), false);
    m->boosted.set(true);  // after: it takes this as the order to step down again
    boosts_.next();
  }
}

void idle_team::run(member& me) {
  trace::this_thread_is(trace::role::helper);
  me.id.set(static_cast<std::uint64_t>(syscall(SYS_gettid)));
  run_when_idle(0, true);
  std::uint64_t until = 0;
  while (!stop_.is_set()) {
    const std::size_t done = work(me);
    const std::uint64_t now = now_ns();
    if (done != 0) until = now + spin_ns_ + (lanes_.moving() ? awake_while_moving_ns : 0);
    if (done == 0 && now >= until) sleep(me);
  }
}

std::size_t idle_team::work(member& me) {
  me.working.set(true);
  const std::size_t done = lanes_.progress();
  me.working.set(false);
  if (me.boosted.take()) run_when_idle(0, true);
  return done;
}

/// Whoever leaves something after the last look finds `asleep_` set, and rings.
void idle_team::sleep(member& me) {
  asleep_.set(true);
  if (work(me) == 0 && !stop_.is_set()) {
    pollfd bell{.fd = bell_.get(), .events = POLLIN, .revents = 0};
    poll(&bell, 1, -1);
    eventfd_t rung = 0;
    eventfd_read(bell_.get(), &rung);
  }
  asleep_.set(false);
}

}  // namespace heddle::engine
