// main.cpp - heddle_lane_cost: what the way in and out of a lane costs, shared and exclusive, beside
// an uncontended atomic read-modify-write. Alternating rounds, medians. With a kind, "shared" or
// "exclusive", it only makes N calls, for counting instructions:
//   heddle_lane_cost shared 100000
#include <fmt/core.h>
#include <heddle/heddle.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "parts/bare.h"
#include "parts/pinning.h"
#include "parts/timing.h"

namespace {

using namespace std::chrono_literals;
constexpr std::size_t block = 1000;

/// Nothing is in flight: taking the lane, looking, and letting go is all there is.
void enter_and_leave(heddle::lane& l) {
  (void)l.flush(0);
}

double ns_of_lane(heddle::lane& l) {
  return heddle::bare::seconds_per_step(20ms, block, [&] { enter_and_leave(l); }) * 1e9;
}

double ns_of_atomic() {
  alignas(64) static std::atomic<std::uint64_t> word{0};
  return heddle::bare::seconds_per_step(20ms, block, [&] { word.fetch_add(1); }) * 1e9;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void compare(heddle::world& w, heddle::bare::core_pair cores, int rounds) {
  heddle::lane shared(w), exclusive(w, {.exclusive = true});
  std::vector<double> atomics, shares, exclusives, lines;
  fmt::print("{:<8}{:>14}{:>14}{:>14}{:>16}\n", "round", "atomic, ns", "shared, ns",
             "exclusive, ns", "cache line, ns");
  for (int round = 1; round <= rounds; ++round) {
    atomics.push_back(ns_of_atomic());
    shares.push_back(ns_of_lane(shared));
    exclusives.push_back(ns_of_lane(exclusive));
    lines.push_back(heddle::bare::cache_line_one_way(cores, 20ms) * 1e9);
    fmt::print("{:<8}{:>14.1f}{:>14.1f}{:>14.1f}{:>16.1f}\n", round, atomics.back(),
               shares.back(), exclusives.back(), lines.back());
  }
  const double atomic = median(atomics), more = median(shares) - median(exclusives);
  fmt::print("{:<8}{:>14.1f}{:>14.1f}{:>14.1f}{:>16.1f}\n", "median", atomic, median(shares),
             median(exclusives), median(lines));
  fmt::print("shared costs {:.1f} ns more than exclusive: {:.2f} atomic read-modify-writes\n", more,
             more / atomic);
}

void repeat(heddle::world& w, bool exclusive, long calls) {
  heddle::lane l(w, {.exclusive = exclusive});
  for (long i = 0; i < calls; ++i) enter_and_leave(l);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    heddle::world w;
    const std::vector<int> cores = heddle::bare::allowed_cores();
    heddle::bare::pin_this_thread({cores.front()});
    if (argc == 3) {
      repeat(w, std::string_view(argv[1]) == "exclusive", std::atol(argv[2]));
    } else {
      compare(w, {cores.front(), cores[1 % cores.size()]}, 7);
    }
    return 0;
  } catch (const std::exception& why) {
    fmt::print(stderr, "heddle_lane_cost: {}\n", why.what());
    return 1;
  }
}
