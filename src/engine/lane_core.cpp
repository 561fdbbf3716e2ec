#include "engine/lane_core.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "engine/executor.h"
#include "sync/cache_line.h"
#include "sync/waker.h"

namespace heddle::engine {
namespace {

using protocols::delivery_batch;
using pushed = sync::combining_queue<protocols::command>::pushed;

constexpr std::size_t queue_capacity = 1024;
/// Commands one thread executes for others before the executor has to take over.
constexpr std::size_t drain_limit = 256;
/// Larger transfers are worth waking the executor for.
constexpr std::size_t large_bytes = 16 * 1024;
/// A wait that begins so soon after a transfer was posted had nothing to compute before.
constexpr std::uint64_t at_once_ns = 20'000;
/// After so many in a row the program is taken for one that always waits.
constexpr std::uint64_t believed_waits = 3;
/// Polls between two looks at the clock while waiting; as long the lane is held.
constexpr int polls_per_turn = 32;
/// As long as for ever: no wait outlives it.
constexpr std::uint64_t year_ns = 365ull * 24 * 3600 * 1'000'000'000;
/// How often maintain() tries to get hold of a busy lane.
constexpr int hold_attempts = 256;

/// Data on the way is waited for awake as long as it may take at 4 GB/s: to sleep and be woken in
/// the middle of a copy costs more than the rest of it.
std::uint64_t time_to_move(std::uint64_t bytes) noexcept {
  constexpr std::uint64_t longest_ns = 1'000'000;
  return std::min(bytes / 4, longest_ns);
}

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

/// Lets go: in one step while nobody shares the lane or relies on its descriptors.
inline void lane_core::release(delivery_batch& batch) noexcept {
  if (armed_ || telling_ || !commands_.release()) [[unlikely]]
    release_shared(batch);
}

status lane_core::submit(const protocols::command& c) noexcept {
  delivery_batch& batch = delivery_batch::mine();
  if (!commands_.try_hold()) [[unlikely]]
    return enqueue(c, batch);
  // Whoever queued before us goes first, we ourselves perhaps.
  if (commands_.pending() && !drain(batch)) [[unlikely]] {
    hand_over();
    return enqueue(c, batch);
  }
  const status s = port_.execute(c, batch);
  if (s == status::posted && c.memory.size() > large_bytes) leave_to_executor();
  release(batch);
  batch.run();
  return s;
}

/// A large transfer goes on while the program computes, if it does: then the executor has to look
/// after the lane at once, not at its next tick. A program that waits at once does so itself, and
/// is believed to do it again.
void lane_core::leave_to_executor() noexcept {
  left_at_ns_.set(now_ns());
  if (waits_at_once_.get() >= believed_waits) return;
  left_ = true;
  armed_ = false;
  helper_.summon();
}

/// The program begins to wait: soon after it left a large transfer, or has it computed meanwhile?
void lane_core::note_wait() noexcept {
  const std::uint64_t left = left_at_ns_.get();
  if (left == 0) [[likely]]
    return;
  left_at_ns_.set(0);
  const bool at_once = now_ns() - left < at_once_ns;
  waits_at_once_.set(at_once ? std::min(waits_at_once_.get() + 1, believed_waits) : 0);
}

status lane_core::enqueue(const protocols::command& c, delivery_batch& batch) noexcept {
  if (port_.in_flight_hint() >= where_.config->records) return status::busy_records;
  const pushed how = commands_.push(c);
  if (how == pushed::full) return status::busy_queue;
  if (how == pushed::held) release_shared(batch);
  batch.run();
  return status::posted;
}

/// False: a thread has executed enough for others, and the executor has to take over.
bool lane_core::drain(delivery_batch& batch) noexcept {
  return commands_.drain(drain_limit,
                         [&](const protocols::command& c) { port_.execute_accepted(c, batch); });
}

/// Lets go when nothing is queued, or the executor was told.
void lane_core::release_shared(delivery_batch& batch) noexcept {
  do {
    if (commands_.pending() && !drain(batch)) return hand_over();
    if ((armed_ || telling_) && port_.unsent()) call_executor();
  } while (!commands_.release());
}

/// There is something to do that nobody counts on having to do.
void lane_core::call_executor() noexcept {
  armed_ = telling_ = false;
  helper_.nudge();
}

/// Lets go with commands left in the queue.
void lane_core::hand_over() noexcept {
  call_executor();
  commands_.let_go();
}

/// The program drives the lane itself: what the executor counted on is no longer armed.
void lane_core::program_polls() noexcept {
  ++polls_;
  if (std::exchange(armed_, false)) helper_.nudge();
}

std::size_t lane_core::poll() noexcept {
  delivery_batch& batch = delivery_batch::mine();
  if (batch.running() || !commands_.try_hold()) return 0;
  const std::size_t events = advance(batch);
  program_polls();
  release(batch);
  return events + batch.run();
}

status lane_core::probe(rank source, const tag_match& match, outcome& found) noexcept {
  if (!commands_.try_hold()) return status::busy_lane;
  delivery_batch& batch = delivery_batch::mine();
  advance(batch);
  program_polls();
  const status s = port_.probe(source, match, found);
  release(batch);
  batch.run();
  return s;
}

status lane_core::cancel(const completion& which) noexcept {
  if (!commands_.try_hold()) return status::busy_lane;
  delivery_batch& batch = delivery_batch::mine();
  (void)drain(batch);  // the receive itself may be queued
  const status s = port_.cancel(which, batch);
  release(batch);
  batch.run();
  return s;
}

// --- waiting ---------------------------------------------------------------------------

bool lane_core::wait(detail::signal& s, std::uint64_t target, std::uint64_t deadline_ns) noexcept {
  const sync::thread_waker& waker = sync::thread_waker::mine();
  note_wait();
  if (s.count() >= target) return true;
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
    const std::size_t events = drive(s, target);
    if (s.count() >= target) return true;
    const std::uint64_t now = now_ns();
    if (end == 0 || events != 0) end = now + spin_ns_ + time_to_move(port_.bytes_hint());
    if (now >= end || (deadline_ns != 0 && now >= deadline_ns)) return false;
  }
}

/// A turn of polling. The lane is held throughout, so that an empty poll costs no exchange and what
/// others want is executed at once, until there is something to deliver. Returns the events.
std::size_t lane_core::drive(const detail::signal& s, std::uint64_t target) noexcept {
  delivery_batch& batch = delivery_batch::mine();
  if (batch.running() || !commands_.try_hold()) {  // someone else drives: its turn raises s,
    // and it may need this core for that
    for (int i = 0; i < polls_per_turn && s.count() < target; ++i) sync::relax();
    std::this_thread::yield();
    return 0;
  }
  program_polls();
  std::size_t events = 0;
  for (int i = 0; i < polls_per_turn && batch.empty() && s.count() < target; ++i) {
    events += advance(batch);
    if (commands_.pending() && !drain(batch)) break;
  }
  release(batch);
  return events + batch.run();
}

/// Gets the lane ready for this thread to sleep on its descriptors. False: there is work, or
/// another thread drives the lane and will wake us by the signal we watch.
bool lane_core::prepare_wait() noexcept {
  delivery_batch& batch = delivery_batch::mine();
  if (batch.running() || !commands_.try_hold()) return false;
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
  const std::uint64_t backstop_ms = where_.config->backstop_ms;
  std::uint64_t limit = backstop_ms != 0 ? backstop_ms * 1'000'000 : year_ns;
  if (!driving) limit = 1'000'000;  // another driver may leave any time
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
  const timespec timeout{.tv_sec = static_cast<time_t>(limit / 1'000'000'000),
                         .tv_nsec = static_cast<long>(limit % 1'000'000'000)};
  ppoll(watched.data(), count, &timeout, nullptr);  // an interruption is as good as a wake
  if (driving) {
    sleepers_.add(-1);
    helper_.nudge();  // it counted on us to sleep here
  }
}

// --- for the executor ------------------------------------------------------------------

std::size_t lane_core::progress() noexcept {
  delivery_batch& batch = delivery_batch::mine();
  if (!commands_.try_hold()) return 0;
  // What a sleeper of the program is told of is the sleeper's: polling would stop the telling.
  const bool covered = telling_ && sleepers_.get() != 0;
  const std::size_t events = covered ? 0 : advance(batch);
  release(batch);
  return events + batch.run();
}

lane_core::readiness lane_core::prepare_sleep() noexcept {
  delivery_batch& batch = delivery_batch::mine();
  if (!commands_.try_hold()) return readiness::attended;
  readiness r = readiness::armed;
  const bool polled = std::exchange(polls_seen_, polls_) != polls_;
  if (polled && !std::exchange(left_, false)) {
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
    if (!commands_.try_hold()) {
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
  while (!drain(batch)) {
  }
  port_.abort(status::closed, batch);
  batch.run();
}

}  // namespace heddle::engine
