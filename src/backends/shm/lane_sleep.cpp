// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/lane_sleep.h"

#include <sys/epoll.h>

#include <cerrno>
#include <cstdint>

namespace heddle::transport::shm {

namespace {

constexpr std::uint64_t bell_id = ~std::uint64_t{0};  // in the epoll set; others are ranks

void add_to(int set, int fd, std::uint64_t id) {
  epoll_event interest{};
  interest.events = EPOLLIN;
  interest.data.u64 = id;
  if (epoll_ctl(set, EPOLL_CTL_ADD, fd, &interest) != 0) fail("cannot watch a descriptor", errno);
}

}  // namespace

lane_sleep::lane_sleep(lane_slot& mine)
    : mine_(mine), bell_(make_bell()), awaited_(epoll_create1(EPOLL_CLOEXEC)) {
  if (!awaited_) fail("cannot create an epoll set", errno);
  add_to(awaited_.get(), bell_.read.get(), bell_id);
}

void lane_sleep::hide_bell() noexcept {
  mine_.bell.set(-1);
  mine_.asleep.mark_awake();
}

void lane_sleep::watch(const peer_process& peer) {
  if (peer.watch_fd() < 0) return;  // our own process
  add_to(awaited_.get(), peer.watch_fd(), static_cast<std::uint64_t>(peer.number()));
}

void lane_sleep::unwatch(const peer_process& peer) noexcept {
  if (peer.watch_fd() < 0) return;
  epoll_ctl(awaited_.get(), EPOLL_CTL_DEL, peer.watch_fd(), nullptr);
}

void lane_sleep::mark_asleep() noexcept {
  asleep_ = true;
  mine_.asleep.mark_asleep();
}

void lane_sleep::mark_awake() noexcept {
  asleep_ = false;
  mine_.asleep.mark_awake();
  silence_bell(bell_.read.get());
}

std::size_t lane_sleep::find_ended(ended_ranks& out) noexcept {
  std::array<epoll_event, std::tuple_size_v<ended_ranks>> ready{};
  int found = 0;
  do {
    found = epoll_wait(awaited_.get(), ready.data(), static_cast<int>(ready.size()), 0);
  } while (found < 0 && errno == EINTR);
  std::size_t count = 0;
  for (int i = 0; i < found; ++i) {
    const std::uint64_t id = ready[static_cast<std::size_t>(i)].data.u64;
    if (id != bell_id) out[count++] = static_cast<rank>(id);
  }
  return count;
}

}  // namespace heddle::transport::shm
