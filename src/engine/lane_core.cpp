#include "engine/lane_core.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

#include "base/clock.h"
#include "engine/executor.h"
#include "sync/cache_line.h"
#include "sync/waker.h"

namespace heddle::engine {
namespace {

using protocols::delivery_batch;

constexpr std::size_t queue_capacity = 1024;
/// Commands one thread executes for others before the executor has to take over.
constexpr int drain_limit = 1024;
/// Polls between two looks at the clock while spinning.
constexpr int polls_per_look = 32;
/// A sleeper looks again after this long even when nothing wakes it.
constexpr std::uint64_t backstop_ns = 100'000'000;
/// How often maintain() tries to get hold of a busy lane.
constexpr int hold_attempts = 256;

}  // namespace

lane_core::lane_core(int number, const protocols::surroundings& where,
                     std::vector<std::unique_ptr<backends::endpoint>> endpoints, executor& helper)
    : number_(number),
      where_(where),
      helper_(helper),
      spin_ns_(where.config->spin_us * 1000),
      commands_(queue_capacity),
      port_(*this, where, std::move(endpoints)) {}

/// Every poll of the endpoints goes through here: it takes their readiness to tell away.
std::size_t lane_core::advance(delivery_batch& batch) noexcept {
  telling_ = false;
  return port_.progress(batch);
}

bool lane_core::arm() noexcept {
  return telling_ = port_.arm();
}

// --- submitting ------------------------------------------------------------------------

status lane_core::submit(const protocols::command& c) noexcept {
  delivery_batch& batch = delivery_batch::mine();
  status s = status::posted;
  if (hold_.try_acquire()) {
    if (commands_.front() != nullptr) drain(batch);  // whoever queued before us goes first
    if (commands_.empty()) [[likely]] {
      s = port_.execute(c, batch);
    } else if (!commands_.try_push(c)) {  // behind a command claimed but not published yet
      s = status::busy_queue;
    }
    release(batch);
  } else {
    if (port_.in_flight_hint() >= where_.config->records) return status::busy_records;
    if (!commands_.try_push(c)) return status::busy_queue;
    sync::full_fence();  // pairs with the one in release()
    if (hold_.try_acquire()) release(batch);
  }
  batch.run();
  return s;
}

void lane_core::drain(delivery_batch& batch) noexcept {
  int left = drain_limit;
  while (const protocols::command* next = commands_.front()) {
    if (--left == 0) {
      armed_ = false;
      helper_.nudge();
      return;
    }
    const protocols::command c = *next;
    commands_.pop();
    port_.execute_accepted(c, batch);
  }
}

/// Empties the queue, lets go, and looks once more: a command published before we let go is seen
/// here, one published after finds the lane free.
void lane_core::release(delivery_batch& batch) noexcept {
  do {
    if (commands_.front() != nullptr) drain(batch);
    if ((armed_ || telling_) && port_.unsent()) {  // nobody counts on having to send it
      armed_ = telling_ = false;
      helper_.nudge();
    }
    hold_.release();
    sync::full_fence();  // pairs with the one in submit()
  } while (commands_.ready() && hold_.try_acquire());
}

std::size_t lane_core::poll() noexcept {
  delivery_batch& batch = delivery_batch::mine();
  if (batch.running() || !hold_.try_acquire()) return 0;
  const std::size_t events = advance(batch);
  ++polls_;
  if (std::exchange(armed_, false)) helper_.nudge();  // what it counted on is no longer armed
  release(batch);
  return events + batch.run();
}

status lane_core::probe(rank source, const tag_match& match, outcome& found) noexcept {
  if (!hold_.try_acquire()) return status::busy_lane;
  delivery_batch& batch = delivery_batch::mine();
  advance(batch);
  ++polls_;
  if (std::exchange(armed_, false)) helper_.nudge();
  const status s = port_.probe(source, match, found);
  release(batch);
  batch.run();
  return s;
}

status lane_core::cancel(const completion& which) noexcept {
  if (!hold_.try_acquire()) return status::busy_lane;
  delivery_batch& batch = delivery_batch::mine();
  drain(batch);
  const status s = port_.cancel(which, batch);
  release(batch);
  batch.run();
  return s;
}

// --- waiting ---------------------------------------------------------------------------

bool lane_core::wait(detail::signal& s, std::uint64_t target, std::uint64_t deadline_ns) noexcept {
  const sync::thread_waker& waker = sync::thread_waker::mine();
  while (!spin(s, target, deadline_ns)) {
    if (deadline_ns != 0 && now_ns() >= deadline_ns) return false;
    if (s.watch(waker.id()) < target) sleep_until_event(deadline_ns);
    s.unwatch();
    waker.clear();
  }
  return true;
}

/// Polls until `s` has counted to `target`, or nothing has happened for the spin budget.
bool lane_core::spin(detail::signal& s, std::uint64_t target, std::uint64_t deadline_ns) noexcept {
  std::uint64_t end = 0;
  for (;;) {
    std::size_t events = 0;
    for (int i = 0; i < polls_per_look; ++i) {
      if (s.count() >= target) return true;
      const std::size_t now = poll();
      if (now == 0 && hold_.held()) sync::relax();
      events += now;
    }
    const std::uint64_t now = now_ns();
    if (end == 0 || events != 0) end = now + spin_ns_;
    if (now >= end || (deadline_ns != 0 && now >= deadline_ns)) return s.count() >= target;
  }
}

/// Gets the lane ready for this thread to sleep on its descriptors. False: there is work, or
/// another thread drives the lane and will wake us by the signal we watch.
bool lane_core::prepare_wait() noexcept {
  delivery_batch& batch = delivery_batch::mine();
  if (batch.running() || !hold_.try_acquire()) return false;
  const bool idle = advance(batch) == 0 && arm();
  if (idle) sleepers_.add(1);
  release(batch);
  batch.run();
  return idle;
}

void lane_core::sleep_until_event(std::uint64_t deadline_ns) noexcept {
  std::array<pollfd, 9> watched{};
  nfds_t count = 0;
  watched[count++] = {.fd = sync::thread_waker::mine().fd(), .events = POLLIN, .revents = 0};
  const bool driving = prepare_wait();
  std::uint64_t limit = driving ? backstop_ns : 1'000'000;  // another driver may leave any time
  if (driving) {
    for (const auto& e : port_.endpoints()) {
      if (count == watched.size()) break;
      watched[count++] = {.fd = e->fd(), .events = POLLIN, .revents = 0};
    }
  }
  if (deadline_ns != 0) {
    const std::uint64_t now = now_ns();
    limit = deadline_ns > now ? std::min(limit, deadline_ns - now) : 0;
  }
  const timespec timeout{.tv_sec = 0, .tv_nsec = static_cast<long>(limit)};
  ppoll(watched.data(), count, &timeout, nullptr);  // an interruption is as good as a wake
  if (driving) {
    sleepers_.add(-1);
    helper_.nudge();  // it counted on us to sleep here
  }
}

// --- for the executor ------------------------------------------------------------------

std::size_t lane_core::progress() noexcept {
  delivery_batch& batch = delivery_batch::mine();
  if (!hold_.try_acquire()) return 0;
  // What a sleeper of the program is told of is the sleeper's: polling would stop the telling.
  const bool covered = telling_ && sleepers_.get() != 0;
  const std::size_t events = covered ? 0 : advance(batch);
  release(batch);
  return events + batch.run();
}

lane_core::readiness lane_core::prepare_sleep() noexcept {
  delivery_batch& batch = delivery_batch::mine();
  if (!hold_.try_acquire()) return readiness::attended;
  readiness r = readiness::armed;
  if (std::exchange(polls_seen_, polls_) != polls_) {
    r = readiness::attended;
  } else if (telling_ && sleepers_.get() != 0) {
    r = readiness::covered;
  } else if (advance(batch) != 0 || !arm()) {
    r = readiness::work;
  }
  armed_ = r == readiness::armed || r == readiness::covered;
  release(batch);
  return batch.run() != 0 ? readiness::work : r;
}

bool lane_core::maintain(std::uint64_t now_ns) noexcept {
  for (int i = 0; i < hold_attempts; ++i) {
    if (!hold_.try_acquire()) {
      sync::relax();
      continue;
    }
    delivery_batch& batch = delivery_batch::mine();
    port_.maintain(now_ns, batch);
    release(batch);
    batch.run();
    return true;
  }
  return false;
}

void lane_core::abort() noexcept {
  delivery_batch& batch = delivery_batch::mine();
  drain(batch);
  port_.abort(status::closed, batch);
  batch.run();
}

}  // namespace heddle::engine
