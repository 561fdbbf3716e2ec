// SPDX-License-Identifier: BSD-3-Clause
// overlap_pass.cpp - posting, computing and waiting between readings of the clock.
#include "kernels/overlap_pass.h"

#include <algorithm>

#include "harness/laps.h"
#include "harness/statistics.h"

namespace heddle::bench {
namespace {

using clock = std::chrono::steady_clock;

/// Touches no memory that anybody else uses.
void compute(double seconds) {
  const clock::time_point begin = clock::now();
  while (seconds_between(begin, clock::now()) < seconds) {
  }
}

side_times iterate(overlap_side& side, double seconds) {
  side.prepare();
  const clock::time_point begin = clock::now();
  side.post();
  const clock::time_point posted = clock::now();
  if (seconds > 0) compute(seconds);
  const clock::time_point computed = clock::now();
  side.wait();
  const clock::time_point end = clock::now();
  return {seconds_between(begin, posted), seconds_between(posted, computed),
          seconds_between(computed, end), seconds_between(begin, end)};
}

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

side_times overlap_pass(overlap_side& side, std::uint64_t count, double seconds) {
  std::vector<side_times> all;
  for (std::uint64_t i = 0; i < count; ++i) all.push_back(iterate(side, seconds));
  return {median_of(all, &side_times::post), median_of(all, &side_times::compute),
          median_of(all, &side_times::wait), median_of(all, &side_times::total)};
}

side_round overlap_round(overlap_side& side, const spec& s, bool sends) {
  const std::uint64_t count = overlap_iterations(s);
  const side_times alone = overlap_pass(side, count, 0);
  return {alone, overlap_pass(side, count, computes(s.who, sends) ? s.compute_us * 1e-6 : 0)};
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
