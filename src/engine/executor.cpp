#include "engine/executor.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "engine/lane_core.h"
#include "engine/world_core.h"

namespace heddle::engine {
namespace {

/// How long a lane is left to the program that polls it before the executor looks again.
constexpr int tick_ms = 1;
constexpr int max_events = 16;
/// Devices tell by their descriptors when to serve them; a busy executor looks without being told.
constexpr unsigned turns_between_devices = 64;

void add_to(int epoll, int fd, std::uint32_t events) {
  epoll_event e{.events = events, .data = {.fd = fd}};
  if (fd >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) != 0) {
    fail_errno(errno, "start the executor: watch a descriptor");
  }
}

}  // namespace

executor::executor(world_core& world)
    : world_(world),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      bell_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!epoll_ || !bell_) fail_errno(errno, "start the executor: no descriptors left (ulimit -n)");
  add_to(epoll_.get(), bell_.get(), EPOLLIN);
}

executor::~executor() {
  stop();
}

void executor::start() {
  for (backends::device* d : world_.devices()) add_to(epoll_.get(), d->fd(), EPOLLIN);
  // Signals are the program's: the thread starts with all of them blocked.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_setname_np(thread_.native_handle(), "heddle");
}

void executor::stop() {
  if (!thread_.joinable()) return;
  stop_.set();
  eventfd_write(bell_.get(), 1);
  thread_.join();
}

void executor::nudge() noexcept {
  if (deep_.take()) eventfd_write(bell_.get(), 1);
}

void executor::summon() noexcept {
  if (deep_.take() || dozing_.take()) eventfd_write(bell_.get(), 1);
}

void executor::lanes_changed() noexcept {
  changed_.set();
  eventfd_write(bell_.get(), 1);
}

void executor::run() {
  adopt_lanes();
  while (!stop_.is_set()) {
    if (work() == 0) sleep();
  }
}

std::size_t executor::work() {
  if (changed_.is_set()) adopt_lanes();
  std::size_t count = 0;
  if (std::exchange(told_, false) || ++turns_ % turns_between_devices == 0)
    count += world_.serve_devices();
  for (const watched_lane& l : lanes_) count += l.lane->progress();
  maintain();
  return count;
}

void executor::sleep() {
  int timeout_ms = -1;
  // First: whoever takes something away, or leaves something, after we looked finds them set.
  deep_.set(true);
  dozing_.set(true);
  const bool idle = prepare(timeout_ms);
  if (!idle || timeout_ms == tick_ms) deep_.set(false);
  if (!idle) return dozing_.set(false);
  std::array<epoll_event, max_events> events;
  const int n = epoll_wait(epoll_.get(), events.data(), max_events, timeout_ms);
  deep_.set(false);
  dozing_.set(false);
  told_ = n > 0;
  (n > 0 ? wakes_ : ticks_).add();
  if (!told_) return;
  eventfd_t rung = 0;
  eventfd_read(bell_.get(), &rung);
}

/// Gets every lane ready for a sleep. False: there is work.
bool executor::prepare(int& timeout_ms) {
  bool attended = false, waiting = false;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    const auto r = lanes_[i].lane->prepare_sleep();
    if (r == lane_core::readiness::work) return false;
    watch(i, r == lane_core::readiness::armed);
    attended |= r == lane_core::readiness::attended;
    waiting |= lanes_[i].lane->waiting();
  }
  if (stop_.is_set() || changed_.is_set()) return false;
  if (attended) {
    timeout_ms = tick_ms;
  } else if (waiting) {
    timeout_ms = std::max(2, static_cast<int>(world_.maintain_interval_ms()));
  }
  return true;
}

void executor::watch(std::size_t lane, bool wanted) {
  watched_lane& l = lanes_[lane];
  if (l.watched == wanted) return;
  l.watched = wanted;
  for (const auto& e : l.lane->port().endpoints()) {
    epoll_event change{.events = wanted ? EPOLLIN : 0u, .data = {.fd = e->fd()}};
    epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, e->fd(), &change);
  }
}

void executor::adopt_lanes() {
  changed_.clear();
  world_.for_each_lane([this](lane_core& lane) {
    const bool known = std::any_of(lanes_.begin(), lanes_.end(),
                                   [&](const watched_lane& l) { return l.lane == &lane; });
    if (known) return;
    for (const auto& e : lane.port().endpoints()) add_to(epoll_.get(), e->fd(), 0);
    lanes_.push_back({&lane, false});
  });
}

void executor::maintain() {
  const std::uint64_t now = now_ns();
  if (now < next_maintain_ns_) return;
  next_maintain_ns_ = now + world_.maintain_interval_ms() * 1'000'000;
  for (const watched_lane& l : lanes_) {
    if (l.lane->waiting()) l.lane->maintain(now);
  }
}

}  // namespace heddle::engine
