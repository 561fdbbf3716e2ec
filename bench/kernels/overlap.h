// SPDX-License-Identifier: BSD-3-Clause
// overlap.h - how the overlap of one message with computing is timed, whoever moves it.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "harness/pace.h"
#include "harness/spec.h"
#include "harness/statistics.h"
#include "kernels/library.h"

namespace heddle::bench {

/// One side's times of one iteration, medians of a round, in seconds.
struct side_times {
  double post = 0;     ///< the call that starts the transfer
  double compute = 0;  ///< what was computed meanwhile
  double wait = 0;     ///< until it was complete
  double total = 0;
};

/// One side's round: without computing, and with it.
struct side_round {
  side_times alone, together;
};

/// Messages in one pass, the same on both sides: half a round's time, at 1 GB/s and 20 us each.
[[nodiscard]] inline std::uint64_t overlap_iterations(const spec& s) {
  const double each = s.compute_us * 1e-6 + 20e-6 + static_cast<double>(s.bytes) * 1e-9;
  const double time = std::chrono::duration<double>(s.time).count();
  return static_cast<std::uint64_t>(std::clamp(time / 2 / each, 5.0, 1e5));
}

/// Computes for so long; touches no memory that anybody else uses.
inline void compute_for(double seconds) {
  const auto begin = clock::now();
  while (seconds_between(begin, clock::now()) < seconds) {
  }
}

[[nodiscard]] inline side_times medians_of(const std::vector<side_times>& all) {
  const auto middle = [&all](double side_times::*field) {
    std::vector<double> values;
    for (const side_times& t : all) values.push_back(t.*field);
    return median(values);
  };
  return {middle(&side_times::post), middle(&side_times::compute), middle(&side_times::wait),
          middle(&side_times::total)};
}

/// One of two sides that move one message at a time.
struct overlap_side {
  std::function<void()> prepare;  ///< not timed: until the partner's receive is posted
  std::function<void()> post;     ///< starts the transfer; the receiver then tells the sender
  std::function<void()> wait;     ///< until it is complete
};

/// `count` messages with `seconds` of computing between post and wait; medians.
[[nodiscard]] inline side_times overlap_pass(const overlap_side& side, std::uint64_t count,
                                             double seconds) {
  std::vector<side_times> all;
  for (std::uint64_t i = 0; i < count; ++i) {
    side.prepare();
    const clock::time_point begin = clock::now();
    side.post();
    const clock::time_point posted = clock::now();
    if (seconds > 0) compute_for(seconds);
    const clock::time_point computed = clock::now();
    side.wait();
    const clock::time_point end = clock::now();
    all.push_back({seconds_between(begin, posted), seconds_between(posted, computed),
                   seconds_between(computed, end), seconds_between(begin, end)});
  }
  return medians_of(all);
}

/// Tagged messages; the receive is always posted first.
template <class Path>
overlap_side tag_side(const std::shared_ptr<Path>& path, bool sends) {
  const auto wait = [=] { path->drain(); };
  if (sends) return {[=] { path->await_notice(); }, [=] { path->send(message::data); }, wait};
  const auto post = [=] {
    path->recv(message::data);
    path->notify();
  };
  return {[] {}, post, wait};
}

/// One side's round.
[[nodiscard]] inline side_round overlap_round(const overlap_side& side, const spec& s, bool sends) {
  const std::uint64_t count = overlap_iterations(s);
  const side_times alone = overlap_pass(side, count, 0);
  return {alone, overlap_pass(side, count, computes(s.who, sends) ? s.compute_us * 1e-6 : 0)};
}

/// As metrics_of(s) says.
[[nodiscard]] inline std::vector<double> overlap_figures(const spec& s, const side_round& sender,
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
