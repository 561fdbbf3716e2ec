// SPDX-License-Identifier: BSD-3-Clause
// overlap.cpp - computing, and what a pass came to.
#include "kernels/overlap.h"

#include <algorithm>

#include "harness/statistics.h"

namespace heddle::bench {
namespace {

double median_of(const std::vector<side_times>& all, double side_times::*field) {
  std::vector<double> values;
  for (const side_times& t : all) values.push_back(t.*field);
  return median(values);
}

}  // namespace

std::uint64_t overlap_iterations(const spec& s) {
  const double each = s.compute_us * 1e-6 + 20e-6 + static_cast<double>(s.bytes) * 1e-9;
  const double time = std::chrono::duration<double>(s.time).count();
  return static_cast<std::uint64_t>(std::clamp(time / 2 / each, 5.0, 1e5));
}

void compute_for(double seconds) {
  const auto begin = std::chrono::steady_clock::now();
  while (seconds_between(begin, std::chrono::steady_clock::now()) < seconds) {
  }
}

side_times medians_of(const std::vector<side_times>& all) {
  return {median_of(all, &side_times::post), median_of(all, &side_times::compute),
          median_of(all, &side_times::wait), median_of(all, &side_times::total)};
}

std::vector<double> overlap_figures(const spec& s, const side_round& sender,
                                    const side_round& receiver) {
  std::vector<double> all;
  for (const bool sends : {true, false}) {
    if (!computes(s.who, sends)) continue;
    const auto& [alone, together] = sends ? sender : receiver;
    const double ratio = overlap_ratio(alone.total, together.compute, together.total);
    all.insert(all.end(), {together.total * 1e6, ratio, alone.total * 1e6, together.post * 1e6,
                           together.compute * 1e6, together.wait * 1e6});
  }
  return all;
}

}  // namespace heddle::bench
