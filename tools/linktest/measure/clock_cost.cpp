// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/measure/clock_cost.h"

#include <algorithm>
#include <array>
#include <chrono>

namespace heddle::linktest {

clock_facts look_at_clock() {
  using clock = std::chrono::steady_clock;
  constexpr std::size_t looks = 2001;
  std::array<clock::time_point, looks> at;
  for (auto& each : at) each = clock::now();
  std::array<double, looks - 1> apart{};
  double finest = 1;
  for (std::size_t i = 0; i + 1 < looks; ++i) {
    apart[i] = std::chrono::duration<double>(at[i + 1] - at[i]).count();
    if (apart[i] > 0) finest = std::min(finest, apart[i]);
  }
  // Of a coarse clock most steps are none: what a look costs is then in the mean.
  std::nth_element(apart.begin(), apart.begin() + apart.size() / 2, apart.end());
  const double mean = std::chrono::duration<double>(at.back() - at.front()).count() / apart.size();
  const double middle = apart[apart.size() / 2];
  double step = finest;
  for (std::size_t i = 0; i + 1 < apart.size(); ++i)
    for (const double d : {apart[i + 1] - apart[i], apart[i] - apart[i + 1]})
      if (d > 0) step = std::min(step, d);
  return {middle > 0 ? middle : mean, step};
}

}  // namespace heddle::linktest
