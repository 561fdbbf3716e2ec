// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/measure/core_wait.h"

#include <algorithm>
#include <cstdint>
#include <fstream>

namespace heddle::linktest {

core_wait::core_wait() : waited_before_(waited()) {}

/// The second number of the file; proc(5) has them in nanoseconds.
std::chrono::nanoseconds core_wait::waited() {
  std::ifstream file("/proc/thread-self/schedstat");
  std::int64_t ran_ns = 0, waited_ns = 0;
  if (!(file >> ran_ns >> waited_ns)) return {};
  return std::chrono::nanoseconds(waited_ns);
}

double core_wait::share() const {
  const std::chrono::duration<double> passed = clock::now() - begin_;
  const std::chrono::duration<double> kept = waited() - waited_before_;
  return passed.count() > 0 ? std::clamp(kept / passed, 0.0, 1.0) : 0;
}

}  // namespace heddle::linktest
