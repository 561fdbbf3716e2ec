// SPDX-License-Identifier: BSD-3-Clause
#include "sync/waker.h"

#include <heddle/detail/signal.h>
#include <sys/eventfd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <vector>

namespace heddle {
namespace {

constexpr std::size_t max_wakers = 1 << detail::signal::waker_bits;

/// eventfds by waker id, plus one so that 0 means none. Never closed: a late wake must not write
/// into whatever the descriptor's number names next, so a number keeps its eventfd for reuse.
std::array<std::atomic<int>, max_wakers> descriptors;
std::atomic<int> living = 0;  // relaxed throughout: a hint

/// Numbers that threads which have ended gave back, and the first one never used.
struct number_pool {
  std::mutex mutex;
  std::vector<std::uint16_t> returned;
  std::size_t next = 1;

  std::uint16_t take() {
    const std::lock_guard lock(mutex);
    if (!returned.empty()) {
      const std::uint16_t id = returned.back();
      returned.pop_back();
      return id;
    }
    return next < max_wakers ? static_cast<std::uint16_t>(next++) : std::uint16_t{0};
  }
  void give_back(std::uint16_t id) {
    const std::lock_guard lock(mutex);
    returned.push_back(id);
  }
};

number_pool& numbers() {
  static auto* pool = new number_pool;  // outlives every thread's waker on purpose
  return *pool;
}

}  // namespace

namespace detail {

void wake(std::uint16_t id) noexcept {
  const int fd = descriptors[id].load(std::memory_order_acquire) - 1;  // A1 pairs with R1
  if (fd >= 0) eventfd_write(fd, 1);
}

}  // namespace detail

namespace sync {

const thread_waker& thread_waker::mine() {
  thread_local const thread_waker waker;
  return waker;
}

int thread_waker::threads() noexcept {
  return living.load(std::memory_order_relaxed);
}

thread_waker::thread_waker() : id_(numbers().take()) {
  living.fetch_add(1, std::memory_order_relaxed);
  if (id_ == 0) return;
  fd_ = descriptors[id_].load(std::memory_order_relaxed) - 1;  // relaxed: the pool's lock orders it
  if (fd_ >= 0) {
    clear();
    return;
  }
  fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  descriptors[id_].store(fd_ + 1, std::memory_order_release);  // R1 pairs with A1 in wake()
}

thread_waker::~thread_waker() {
  living.fetch_sub(1, std::memory_order_relaxed);
  if (id_ != 0) numbers().give_back(id_);
}

void thread_waker::clear() const noexcept {
  eventfd_t count = 0;
  if (fd_ >= 0) eventfd_read(fd_, &count);
}

}  // namespace sync
}  // namespace heddle
