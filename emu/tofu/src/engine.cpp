// SPDX-License-Identifier: BSD-3-Clause
// engine.cpp - see engine.h.
#include "engine.h"

#include <sched.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "cq.h"

namespace tofu {

void engine::start() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are the program's
  try {
    std::thread([this] { run(); }).detach();
    running_ = true;
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void engine::add(cq& queue) {
  if (!running_) start();
  for (std::atomic<cq*>& place : queues_) {
    // Relaxed: only we change it.
    if (place.load(std::memory_order_relaxed) != nullptr) continue;
    place.store(&queue, std::memory_order_release);  // R1 pairs with A1
    return;
  }
}

void engine::remove(cq& queue) noexcept {
  for (std::atomic<cq*>& place : queues_) {
    cq* expected = &queue;
    // seq_cst, both: with the pair in serve_all(), one of us sees the other.
    place.compare_exchange_strong(expected, nullptr, std::memory_order_seq_cst);
  }
  while (serving_.load(std::memory_order_seq_cst) == &queue) sched_yield();
}

std::size_t engine::serve_all() noexcept {
  std::size_t done = 0;
  for (std::atomic<cq*>& place : queues_) {
    cq* const queue = place.load(std::memory_order_acquire);  // A1 pairs with R1
    if (queue == nullptr) continue;
    serving_.store(queue, std::memory_order_seq_cst);
    if (place.load(std::memory_order_seq_cst) == queue) done += queue->serve();
    serving_.store(nullptr, std::memory_order_seq_cst);
  }
  return done;
}

void engine::run() noexcept {
  constexpr unsigned patience = 64;  // rounds without work before it sleeps
  for (unsigned idle = 0;; ++idle) {
    if (pause_us_ != 0) usleep(pause_us_);
    if (serve_all() > 0) idle = 0;
    if (idle < patience) continue;
    sleep();
    idle = 0;
  }
}

void engine::sleep() noexcept {
  asleep_.store(1, std::memory_order_relaxed);          // relaxed: F2 orders it
  std::atomic_thread_fence(std::memory_order_seq_cst);  // F2 pairs with F1
  if (serve_all() > 0) {
    asleep_.store(0, std::memory_order_relaxed);  // relaxed: only a hint to posters
    return;
  }
  asleep_.wait(1, std::memory_order_relaxed);  // relaxed: what was posted is read with A3
}

void engine::rouse() noexcept {
  asleep_.store(0, std::memory_order_relaxed);  // relaxed: see sleep()
  asleep_.notify_one();
}

}  // namespace tofu
