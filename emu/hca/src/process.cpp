// SPDX-License-Identifier: BSD-3-Clause
// process.cpp - see process.h.
#include "process.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "host/words.h"
#include "qp.h"
#include "shared_qp.h"

namespace hca {

namespace {

std::mutex mutex;
std::atomic<process*> current{nullptr};  // never destroyed: used until the process ends

}  // namespace

process* process::joined() noexcept {
  return current.load(std::memory_order_acquire);  // A1 pairs with R1
}

process* process::get() {
  if (process* const there = joined()) return there;
  const std::lock_guard held(mutex);
  if (process* const there = joined()) return there;
  auto* const fresh = new process;
  if (!fresh->join()) {
    delete fresh;
    return nullptr;
  }
  current.store(fresh, std::memory_order_release);  // R1 pairs with A1
  return fresh;
}

bool process::join() {
  // A child of fork is a process of its own; what its parent opened is of no use to it.
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { current.store(nullptr, std::memory_order_relaxed); });
  asked_settings asked;
  if (registered != 0 || !read_settings(asked)) return false;
  arena_ = hca::arena::make();
  if (!arena_) {
    host::say(
        "cannot make the memory that peers share: raise the limits of descriptors and of "
        "address space (ulimit -n, ulimit -v)");
    return false;
  }
  fabric_ = hca::fabric::join(asked, arena_.fd());
  if (!fabric_) return false;
  set_ = asked.now;
  pid_ = getpid();
  random_ = set_[knob::seed] * 2 + 1;
  peers_.emplace(*fabric_, arena_.data());
  keys_.emplace(arena_.at<key_table>(0));
  // Peers read and write our private memory; where Yama guards it, it must be allowed.
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  return true;
}

/// xorshift. Threads that come at once may get the same number, which harms nobody.
std::uint64_t process::random(std::uint64_t below) noexcept {
  std::uint64_t x = random_.load(std::memory_order_relaxed);  // relaxed: see above
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  random_.store(x, std::memory_order_relaxed);  // relaxed: see above
  return (x >> 11) % below;
}

bool process::lock_memory(std::uint64_t bytes) noexcept {
  const std::uint64_t limit = set_[knob::locked];
  // Relaxed: a sum.
  if (locked_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= limit || limit == 0)
    return true;
  unlock_memory(bytes);
  return false;
}

void process::know(std::uint32_t number, std::shared_ptr<qp> one) {
  polled_[number % max_qps].store(one.get(), std::memory_order_release);  // R1 pairs with A1
  const std::lock_guard held(mutex_);
  qps_[number] = std::move(one);
}

void process::forget(std::uint32_t number) {
  polled_[number % max_qps].store(nullptr, std::memory_order_release);  // R1
  const std::lock_guard held(mutex_);
  qps_.erase(number);
}

std::shared_ptr<qp> process::find(std::uint32_t number) {
  const std::lock_guard held(mutex_);
  const auto found = qps_.find(number);
  return found == qps_.end() ? nullptr : found->second;
}

void process::wait_for_deliveries() {
  std::vector<std::shared_ptr<qp>> all;
  {
    const std::lock_guard held(mutex_);
    for (const auto& [unused, one] : qps_) all.push_back(one);
  }
  for (const auto& one : all) {
    const host::shared_lock_guard none(fabric_->file(), fabric_->stamp(),
                                       one->shared().responder.holder);
  }
}

std::uint64_t process::take_qp_memory() {
  const std::lock_guard held(mutex_);
  if (free_qp_memory_.empty()) return arena_.take(sizeof(shared_qp));
  const std::uint64_t at = free_qp_memory_.back();
  free_qp_memory_.pop_back();
  return at;
}

void process::give_back_qp_memory(std::uint64_t at) {
  const std::lock_guard held(mutex_);
  free_qp_memory_.push_back(at);
}

void process::leave() noexcept {
  if (getpid() == pid_) fabric_->leave();  // not in a child of fork
}

namespace {

/// Runs when the library is unloaded: at exit, after the program's own handlers.
[[gnu::destructor]] void leave_at_exit() {
  if (process* const there = process::joined()) there->leave();
}

}  // namespace

}  // namespace hca
