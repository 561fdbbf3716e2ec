// SPDX-License-Identifier: BSD-3-Clause
#include "engine/executor.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "base/signals_blocked.h"
#include "base/timer.h"
#include "engine/inline_round.h"
#include "engine/lane_core.h"
#include "engine/placement.h"
#include "engine/progress_mode.h"
#include "engine/world_core.h"
#include "tracing/recorder.h"

namespace heddle::engine {
namespace {

/// How long a lane is left to the program that polls it before the executor looks again.
constexpr int tick_ms = 1;
/// As long, where the program's thread has given its core to a peer and waits for its turn.
constexpr int tick_while_away_ms = 8;
/// Mode idle: helpers may get no core, so the executor looks after what is queued.
constexpr int backstop_ms = 4;
constexpr int max_events = 16;
/// Devices tell by their descriptors when to serve them; a busy executor looks without being told.
constexpr unsigned turns_between_devices = 64;
/// Awake without work it lets other threads of its core run so often.
constexpr unsigned turns_between_yields = 16;
/// The executor is moved away from computing threads at most so often.
constexpr std::uint64_t move_every_ns = 10'000'000;
/// In mode inline a polling thread does the executor's duties at most so often.
constexpr std::uint64_t serve_every_ns = 50'000;

/// Whose descriptor woke the executor.
enum class source : std::uint32_t { bell, tick, lane, device };

epoll_event event_of(source from, std::uint32_t events) {
  return {.events = events, .data = {.u32 = static_cast<std::uint32_t>(from)}};
}

void add_to(int epoll, int fd, source from, std::uint32_t events) {
  epoll_event e = event_of(from, events);
  if (fd >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) != 0 && errno != EEXIST) {
    fail_errno(errno, "start the executor: watch a descriptor");
  }
}

}  // namespace

executor::executor(world_core& world, int index, int of)
    : world_(world),
      index_(index),
      of_(of),
      inline_(mode_of(world.config()) == progress_mode::inline_only),
      dedicated_(mode_of(world.config()) == progress_mode::dedicated),
      spin_ns_(world.spin_ns()),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      bell_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      tick_(make_timer()) {
  if (!epoll_ || !bell_ || !tick_)
    fail_errno(errno, "start the executor: no descriptors left (ulimit -n)");
  add_to(epoll_.get(), bell_.get(), source::bell, EPOLLIN);
  add_to(epoll_.get(), tick_.get(), source::tick, EPOLLIN);
  unserved_.set(true);
  if (dedicated_) (void)choose_core(world.config().executor_cores, index, {}, {});  // refused now
}

executor::~executor() {
  if (inline_) world_.inline_worlds()->remove(*this);
  stop();
}

/// Mode inline: nobody does its duties until unserved_ is set again. Waits for who does them.
void executor::take_duties() noexcept {
  while (!unserved_.take()) std::this_thread::yield();  // it is for a moment
}

void executor::start() {
  if (inline_) take_duties();
  if (index_ == 0)
    for (transport::device* d : world_.network().devices())
      add_to(epoll_.get(), d->fd(), source::device, EPOLLIN);
  stop_.clear();
  cores_ = usable_cores();
  avoided_.set(0);
  const signals_blocked during;
  thread_ = std::thread([this] { run(); });
  pthread_setname_np(thread_.native_handle(), "heddle");
}

void executor::stop() {
  if (!thread_.joinable()) return;
  stop_.set();
  eventfd_write(bell_.get(), 1);
  thread_.join();
  if (inline_) unserved_.set(true);
}

void executor::leave_to_others() {
  world_.inline_worlds()->add(*this);
}

void executor::end() {
  if (inline_) world_.inline_worlds()->remove(*this);
  stop();
  if (inline_) take_duties();
}

void executor::ring() noexcept {
  rings_.next();
  if (trace::is_watched()) [[unlikely]]
    trace::note_at(trace::event_kind::wake, {world_.self(), -1}, 1);
  eventfd_write(bell_.get(), 1);
}

/// In mode dedicated nobody else drives the lane for long.
void executor::look_soon() noexcept {
  if (!rest_.shorten()) return;
  if (dedicated_) return ring();
  set_timer(tick_.get(), tick_ms * 1'000'000);
}

void executor::wake() noexcept {
  if (rest_.take()) ring();
}

void executor::keep_off(int core) noexcept {
  const auto number = static_cast<std::uint64_t>(core) + 1;
  if (core < 0 || dedicated_ || inline_ || avoided_.get() == number) return;
  const std::uint64_t now = now_ns();
  if (now < next_move_ns_.get()) return;
  next_move_ns_.set(now + move_every_ns);
  if (engine::keep_off(thread_.native_handle(), cores_, core)) avoided_.set(number);
}

void executor::lanes_changed() noexcept {
  changed_.set();
  eventfd_write(bell_.get(), 1);
}

void executor::run() {
  trace::this_thread_is(trace::role::executor);
  adopt_lanes();
  while (!stop_.is_set()) {
    if (inline_) world_.inline_worlds()->serve_others(*this);
    if (!stays_awake(work())) sleep();
  }
  for (const watched_lane& l : lanes_) l.lane->server().dismiss();
}

std::size_t executor::work() {
  if (changed_.is_set()) adopt_lanes();
  std::size_t count = 0;
  if (std::exchange(told_, false) || ++turns_ % turns_between_devices == 0) {
    if (index_ == 0) count += world_.serve_devices();
    maintain();
  }
  for (const watched_lane& l : lanes_) count += l.lane->server().serve(alone());
  return count;
}

/// After an event a dedicated executor stays awake for the spin budget, and one that polls for
/// many on few cores; any other after it was given something to submit: more may come.
bool executor::stays_awake(std::size_t events) {
  if (events == 0 && awake_until_ns_ == 0) return false;
  std::uint64_t picked = 0;
  bool polls = false;
  for (const watched_lane& l : lanes_) {
    picked += l.lane->driver().counters().picked.get();
    polls |= l.lane->waiter().executor_polls();
  }
  const std::uint64_t now = now_ns();
  if (std::exchange(picked_, picked) != picked || ((dedicated_ || polls) && events != 0))
    awake_until_ns_ = now + spin_ns_;
  if (events != 0) return true;
  if (now < awake_until_ns_) {
    if (polls || ++idle_turns_ % turns_between_yields == 0) std::this_thread::yield();
    return true;
  }
  awake_until_ns_ = 0;
  return false;
}

void executor::sleep() {
  int timeout_ms = -1;
  rest_.begin();
  if (!prepare(timeout_ms)) return rest_.end();
  if (polled_) rest_.is_short();
  std::array<epoll_event, max_events> events;
  const int n = wait_for(events, timeout_ms);
  rest_.end();
  told_ = n <= 0;
  bool ticked = n <= 0;
  for (int i = 0; i < n; ++i) {
    const auto from = static_cast<source>(events[static_cast<std::size_t>(i)].data.u32);
    told_ |= from != source::lane;
    ticked |= from == source::tick;
    eventfd_t count = 0;  // what both are read by
    if (from == source::bell) eventfd_read(bell_.get(), &count);
    if (from == source::tick) eventfd_read(tick_.get(), &count);
  }
  (ticked ? ticks_ : wakes_).add();
}

int executor::wait_for(std::span<epoll_event> events, int timeout_ms) const noexcept {
  trace::span asleep(trace::event_kind::sleep, {world_.self(), -1}, false);
  const int n =
      epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), timeout_ms);
  asleep.set_amount(n > 0 ? 1 : 0);
  return n;
}

/// Gets every lane ready for a sleep. False: there is work.
bool executor::prepare(int& timeout_ms) {
  bool away = true, waiting = false;
  polled_ = false;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    const auto r = lanes_[i].lane->server().prepare_sleep(alone());
    if (r == lane_server::readiness::work) return false;
    watch(i, r == lane_server::readiness::watched);
    polled_ |= r == lane_server::readiness::polled;
    away &= r != lane_server::readiness::polled || lanes_[i].lane->driver().is_away();
    waiting |= lanes_[i].lane->port().in_flight_hint() != 0;
  }
  if (stop_.is_set() || changed_.is_set()) return false;
  const bool look_soon = overdue_ || is_shared_inline();
  if (polled_ || look_soon) {
    timeout_ms = away && !look_soon ? tick_while_away_ms : tick_ms;
  } else if (world_.has_team()) {
    timeout_ms = backstop_ms;
  } else if (waiting) {
    timeout_ms = std::max(2, static_cast<int>(world_.maintain_interval_ms()));
  }
  return true;
}

void executor::watch(std::size_t lane, bool wanted) {
  watched_lane& l = lanes_[lane];
  if (l.watched == wanted) return;
  l.watched = wanted;
  for (const auto& e : l.lane->port().endpoints().all()) {
    epoll_event change = event_of(source::lane, wanted ? EPOLLIN : 0u);
    epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, e->fd(), &change);
  }
}

void executor::adopt_lanes() {
  changed_.clear();
  world_.lanes().for_each([this](lane_core& lane) {
    if (lane.number() % of_ != index_) return;
    const bool known = std::any_of(lanes_.begin(), lanes_.end(),
                                   [&](const watched_lane& l) { return l.lane == &lane; });
    if (known) return;
    for (const auto& e : lane.port().endpoints().all())
      add_to(epoll_.get(), e->fd(), source::lane, 0);
    for (const watched_lane& l : lanes_) l.lane->server().dismiss();  // no longer alone
    lanes_.push_back({&lane, false});
  });
  if (dedicated_) settle();
}

/// Goes next to the threads that opened its lanes, once: then no other core is usable.
void executor::settle() {
  if (core() >= 0) return;
  std::vector<int> mine, all;
  world_.lanes().for_each([&](const lane_core& lane) {
    if (lane.user().core() < 0) return;
    all.push_back(lane.user().core());
    if (lane.number() % of_ == index_) mine.push_back(lane.user().core());
  });
  const int core = choose_core(world_.config().executor_cores, index_, mine, all);
  if (core >= 0 && tie_to_core(core)) core_.set(static_cast<std::uint64_t>(core) + 1);
}

/// A lane that somebody holds just now is not passed over, or a thread that wakes up whenever this
/// one does could hide a silent peer for long: it tries again after a tick.
void executor::maintain() {
  const std::uint64_t now = now_ns();
  if (now < next_maintain_ns_) return;
  overdue_ = false;
  for (const watched_lane& l : lanes_) {
    if (l.lane->port().in_flight_hint() != 0 && !l.lane->server().maintain(now)) overdue_ = true;
  }
  next_maintain_ns_ = now + (overdue_ ? tick_ms : world_.maintain_interval_ms()) * 1'000'000;
}

void executor::serve_inline() noexcept {
  serve_own();
  world_.inline_worlds()->serve_others(*this);
}

bool executor::is_shared_inline() const noexcept {
  return inline_ && world_.inline_worlds()->has_several();
}

void executor::serve_own() noexcept {
  const std::uint64_t now = now_ns();
  if (now < next_serve_ns_.get() || !unserved_.take()) return;
  next_serve_ns_.set(now + serve_every_ns);
  try {
    world_.serve_devices();
    if (changed_.is_set()) adopt_lanes();
  } catch (const std::exception&) {  // out of memory: tried again
  }
  maintain();
  for (const watched_lane& l : lanes_)
    if (l.lane->left_alone()) l.lane->server().progress();
  unserved_.set(true);
}

}  // namespace heddle::engine
