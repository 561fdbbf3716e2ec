// SPDX-License-Identifier: BSD-3-Clause
// stop_signal.cpp - the signal handler.
#include "linktest/measure/stop_signal.h"

#include <signal.h>
#include <time.h>

#include <array>
#include <atomic>
#include <cstdint>

namespace heddle::linktest {
namespace {

constexpr std::array stops{SIGINT, SIGTERM, SIGHUP};
constexpr std::int64_t same_wish_ns = 300'000'000;
volatile sig_atomic_t caught = 0;  // by the handler, and before it is in place
std::atomic<std::int64_t> caught_at{0};

void remember(int number);

/// Puts back the usual action wherever ours is. Async-signal-safe.
void forget_all() noexcept {
  struct sigaction now {};
  for (const int number : stops)
    if (sigaction(number, nullptr, &now) == 0 && now.sa_handler == remember)
      signal(number, SIG_DFL);
}

std::int64_t now_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void remember(int number) {
  const std::int64_t now = now_ns();
  if (caught == 0) {
    caught_at.store(now, std::memory_order_relaxed);
    caught = number;
  } else if (now - caught_at.load(std::memory_order_relaxed) > same_wish_ns) {
    forget_all();
    raise(number);
  }
}

}  // namespace

stop_signal::stop_signal() noexcept {
  caught = 0;
  struct sigaction once {};
  once.sa_handler = remember;
  once.sa_flags = SA_RESTART;
  for (const int number : stops) {
    struct sigaction before {};
    // What is ignored (nohup) stays ignored.
    if (sigaction(number, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
      sigaction(number, &once, nullptr);
  }
}

stop_signal::~stop_signal() {
  forget_all();
}

int stop_signal::seen() noexcept {
  return caught;
}

}  // namespace heddle::linktest
