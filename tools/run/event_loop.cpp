// SPDX-License-Identifier: BSD-3-Clause
#include "run/event_loop.h"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>

#include "run/failure.h"

namespace heddle::tools {
namespace {

std::uint64_t now_ms() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(since).count());
}

}  // namespace

event_loop::event_loop() : epoll_(epoll_create1(EPOLL_CLOEXEC)) {
  if (!epoll_) fail_errno(errno, "make an epoll set");
}

bool event_loop::watch(int fd, std::uint32_t events, handler ready) {
  epoll_event wanted{};
  wanted.events = events;
  wanted.data.fd = fd;
  const int how = watches(fd) ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  if (epoll_ctl(epoll_.get(), how, fd, &wanted) != 0) {
    if (errno == EPERM) return false;
    fail_errno(errno, "watch a descriptor");
  }
  handlers_[fd] = std::make_shared<handler>(std::move(ready));
  return true;
}

void event_loop::forget(int fd) noexcept {
  if (handlers_.erase(fd) != 0) epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

void event_loop::after(std::uint64_t ms, handler due) {
  timers_.emplace(now_ms() + ms, std::move(due));
}

int event_loop::wait_ms() const {
  if (timers_.empty()) return -1;
  const std::uint64_t now = now_ms(), due = timers_.begin()->first;
  return due <= now ? 0 : static_cast<int>(std::min<std::uint64_t>(due - now, 60'000));
}

void event_loop::run_timers() {
  const std::uint64_t now = now_ms();  // what a timer sets for at once waits for the next turn
  while (!timers_.empty() && timers_.begin()->first <= now) {
    const handler due = std::move(timers_.begin()->second);
    timers_.erase(timers_.begin());
    due();
  }
}

void event_loop::run_once() {
  std::array<epoll_event, 64> events;
  const int count =
      epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), wait_ms());
  if (count < 0 && errno != EINTR) fail_errno(errno, "wait for events");
  for (int i = 0; i < count; ++i) {
    // A handler may have forgotten this one, or may forget itself while it runs.
    const auto found = handlers_.find(events[static_cast<std::size_t>(i)].data.fd);
    if (found == handlers_.end()) continue;
    const std::shared_ptr<handler> kept = found->second;
    (*kept)();
  }
  run_timers();
}

}  // namespace heddle::tools
