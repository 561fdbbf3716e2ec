// SPDX-License-Identifier: BSD-3-Clause
// stop_signal.cpp - the signal handler.
#include "linktest/measure/stop_signal.h"

#include <signal.h>

#include <array>

namespace heddle::linktest {
namespace {

constexpr std::array stops{SIGINT, SIGTERM, SIGHUP};
volatile sig_atomic_t caught = 0;  // by the handler, and before it is in place

void remember(int number);

/// Puts back the usual action wherever ours is. Async-signal-safe.
void forget_all() noexcept {
  struct sigaction now {};
  for (const int number : stops)
    if (sigaction(number, nullptr, &now) == 0 && now.sa_handler == remember)
      signal(number, SIG_DFL);
}

void remember(int number) {
  caught = number;
  forget_all();
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
