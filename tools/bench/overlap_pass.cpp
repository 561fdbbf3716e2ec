// overlap_pass.cpp - posting, computing and waiting between readings of the clock.
#include "bench/overlap_pass.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "bench/laps.h"
#include "bench/statistics.h"

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

const std::map<std::string, computing>& computing_names() {
  static const std::map<std::string, computing> names{
      {"sender", computing::sender}, {"receiver", computing::receiver}, {"both", computing::both}};
  return names;
}

std::string name_of(computing who) {
  for (const auto& [name, value] : computing_names()) {
    if (value == who) return name;
  }
  throw std::logic_error("a name is missing in overlap_pass.cpp");
}

bool computes(computing who, bool sends) noexcept {
  return who == computing::both || (who == computing::sender) == sends;
}

std::uint64_t overlap_iterations(std::chrono::duration<double> round, std::uint64_t bytes,
                                 double compute_us) {
  const double each = compute_us * 1e-6 + 20e-6 + static_cast<double>(bytes) * 1e-9;
  return static_cast<std::uint64_t>(std::clamp(round.count() / 2 / each, 5.0, 1e5));
}

side_times overlap_pass(overlap_side& side, std::uint64_t count, double seconds) {
  std::vector<side_times> all;
  for (std::uint64_t i = 0; i < count; ++i) all.push_back(iterate(side, seconds));
  return {median_of(all, &side_times::post), median_of(all, &side_times::compute),
          median_of(all, &side_times::wait), median_of(all, &side_times::total)};
}

}  // namespace heddle::bench
