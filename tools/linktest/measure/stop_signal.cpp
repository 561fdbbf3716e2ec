// SPDX-License-Identifier: BSD-3-Clause
// stop_signal.cpp - the signal handler.
#include "linktest/measure/stop_signal.h"

#include <signal.h>
#include <time.h>

#include <array>

namespace heddle::linktest {
namespace {

constexpr std::array stops{SIGINT, SIGTERM, SIGHUP};
constexpr unsigned same_wish_ms = 300;
volatile sig_atomic_t caught = 0;  // by the handler, and before it is in place
volatile sig_atomic_t caught_at_ms = 0;

void remember(int number);

/// Puts back the usual action wherever ours is. Async-signal-safe.
void forget_all() noexcept {
  struct sigaction now {};
  for (const int number : stops)
    if (sigaction(number, nullptr, &now) == 0 && now.sa_handler == remember)
      signal(number, SIG_DFL);
}

/// Of which only differences mean anything.
unsigned now_ms() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<unsigned>(now.tv_sec * 1000 + now.tv_nsec / 1'000'000);
}

void remember(int number) {
  const unsigned now = now_ms();
  if (caught == 0) {
    caught_at_ms = static_cast<sig_atomic_t>(now);
    caught = number;
  } else if (now - static_cast<unsigned>(caught_at_ms) > same_wish_ms) {
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
