// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/measure/core_wait.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
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

std::string as_text(const core_wait& watched) {
  return fmt::format("{:.4f}", watched.share());
}

std::vector<double> shares_in(const std::vector<std::string>& texts) {
  std::vector<double> out;
  for (const std::string& text : texts)
    out.push_back(text.empty() ? 0 : std::strtod(text.c_str(), nullptr));
  return out;
}

}  // namespace heddle::linktest
