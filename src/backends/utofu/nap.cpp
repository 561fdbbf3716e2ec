// SPDX-License-Identifier: BSD-3-Clause
#include "backends/utofu/nap.h"

#include <sys/timerfd.h>

namespace heddle::transport::utofu {

void set_alarm(int timer, std::uint64_t ns) noexcept {
  itimerspec when{};
  when.it_value.tv_sec = static_cast<time_t>(ns / 1'000'000'000);
  when.it_value.tv_nsec = static_cast<long>(ns % 1'000'000'000);
  (void)timerfd_settime(timer, 0, &when, nullptr);  // cannot fail: the descriptor is a timer
}

}  // namespace heddle::transport::utofu
