// SPDX-License-Identifier: BSD-3-Clause
#include "engine/resting_place.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/error.h"
#include "base/timer.h"
#include "tracing/recorder.h"

namespace heddle::engine {
namespace {

constexpr int max_events = 16;
/// A peer of a program that has polled and computes now waits so long, should nobody look before.
constexpr int longest_tick_ms = 64;

/// Whose descriptor woke the executor.
enum class source : std::uint32_t { bell, tick, lane, device };

resting_place::ended_by end_by(source from) noexcept {
  using by = resting_place::ended_by;
  return from == source::tick ? by::tick : from == source::lane ? by::lane : by::others;
}

epoll_event event_of(source from, std::uint32_t events) {
  return {.events = events, .data = {.u32 = static_cast<std::uint32_t>(from)}};
}

void add_to(int epoll, int fd, source from, std::uint32_t events) {
  epoll_event e = event_of(from, events);
  if (fd >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) != 0 && errno != EEXIST) {
    fail_errno(errno, "start the executor: watch a descriptor");
  }
}

int wait_for(int epoll, std::span<epoll_event> events, int timeout_ms, rank self) noexcept {
  trace::span asleep(trace::event_kind::sleep, {self, -1}, false);
  const int n = epoll_wait(epoll, events.data(), static_cast<int>(events.size()), timeout_ms);
  asleep.set_amount(n > 0 ? 1 : 0);
  return n;
}

}  // namespace

resting_place::resting_place(rank self, bool alone)
    : self_(self),
      alone_(alone),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      bell_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      tick_(make_timer()) {
  if (!epoll_ || !bell_ || !tick_)
    fail_errno(errno, "start the executor: no descriptors left (ulimit -n)");
  add_to(epoll_.get(), bell_.get(), source::bell, EPOLLIN);
  add_to(epoll_.get(), tick_.get(), source::tick, EPOLLIN);
}

void resting_place::add(std::span<transport::device* const> devices) {
  for (const transport::device* d : devices) add_to(epoll_.get(), d->fd(), source::device, EPOLLIN);
}

void resting_place::add(endpoints lane) {
  for (const auto& e : lane) add_to(epoll_.get(), e->fd(), source::lane, 0);
}

bool resting_place::watch(endpoints lane, bool wanted) noexcept {
  return std::ranges::all_of(lane, [&](const auto& e) {
    epoll_event change = event_of(source::lane, wanted ? EPOLLIN : 0u);
    return epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, e->fd(), &change) == 0;
  });
}

void resting_place::share_core(int ranks) noexcept {
  tick_ms_ = std::clamp(ranks, least_tick_ms, longest_tick_ms);
}

resting_place::ended_by resting_place::sleep(const rest& how) noexcept {
  if (how.is_short) depth_.is_short();
  std::array<epoll_event, max_events> events;
  const int n = wait_for(epoll_.get(), events, how.timeout_ms, self_);
  depth_.end();
  ended_by last = ended_by::tick;
  bool ticked = n <= 0;
  for (int i = 0; i < n; ++i) {
    const auto from = static_cast<source>(events[static_cast<std::size_t>(i)].data.u32);
    last = std::max(last, end_by(from));
    ticked |= from == source::tick;
    eventfd_t count = 0;  // what both are read by
    if (from == source::bell) eventfd_read(bell_.get(), &count);
    if (from == source::tick) eventfd_read(tick_.get(), &count);
  }
  (ticked ? ticks_ : wakes_).add();
  return last;
}

void resting_place::look_soon() noexcept {
  if (!depth_.shorten()) return;
  if (alone_) return ring();
  set_timer(tick_.get(), static_cast<std::uint64_t>(tick_ms_) * 1'000'000);
}

void resting_place::wake() noexcept {
  if (depth_.take()) ring();
}

void resting_place::interrupt() noexcept {
  eventfd_write(bell_.get(), 1);
}

void resting_place::ring() noexcept {
  rings_.next();
  if (trace::is_watched()) [[unlikely]]
    trace::note_at(trace::event_kind::wake, {self_, -1}, 1);
  interrupt();
}

}  // namespace heddle::engine
