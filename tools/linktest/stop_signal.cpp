// stop_signal.cpp - the signal handler.
#include "linktest/stop_signal.h"

#include <signal.h>

#include <array>

namespace heddle::linktest {
namespace {

constexpr std::array stops{SIGINT, SIGTERM, SIGHUP};
volatile sig_atomic_t caught = 0;  // written only by the handler

void remember(int number) {
  caught = number;
}

}  // namespace

stop_signal::stop_signal() noexcept {
  struct sigaction once {};
  once.sa_handler = remember;
  once.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
  for (const int number : stops) {
    struct sigaction before {};
    // What is ignored (nohup) stays ignored.
    if (sigaction(number, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
      sigaction(number, &once, nullptr);
  }
}

stop_signal::~stop_signal() {
  for (const int number : stops) {
    struct sigaction now {};
    if (sigaction(number, nullptr, &now) == 0 && now.sa_handler == remember)
      signal(number, SIG_DFL);
  }
}

int stop_signal::seen() noexcept {
  return caught;
}

}  // namespace heddle::linktest
