// SPDX-License-Identifier: BSD-3-Clause
// rounds.cpp - agreeing on a count with the partner, and threads that start together.
#include "harness/rounds.h"

#include <barrier>

#include "harness/pace.h"
#include "harness/statistics.h"

namespace heddle::bench {

rounds::rounds(partner& other, const spec& s, exchanges all, time_source now)
    : other_(other), spec_(s), all_(std::move(all)), now_(now), pacer_(s) {}

round_result rounds::lead() {
  std::vector<double> stamps;
  pacer_.begin_round();
  while (const std::uint64_t count = pacer_.count())
    run(count, pacer_.stamped() ? &stamps : nullptr);
  tell(other_, std::uint64_t{0});
  round_result result{{figure(spec_, pacer_.result())}};
  if (!stamps.empty())
    result.p99 = figure(spec_, percentile(std::move(stamps), 0.99) * share_of_trip(spec_));
  return result;
}

void rounds::run(std::uint64_t count, std::vector<double>* stamps) {
  tell(other_, count);
  (void)hear<bool>(other_);  // its receives are posted
  std::vector<lap_times> laps(all_.size());
  std::barrier together(spec_.threads);
  on_threads(spec_.threads, [&](int t) {
    stopwatch watch(t == 0 ? stamps : nullptr, now_);
    lap_times& lap = laps[static_cast<std::size_t>(t)];
    together.arrive_and_wait();
    lap.start = now_();
    at(t).initiate(count, watch);
    lap.end = now_();
    at(t).conclude();
  });
  pacer_.end_run(elapsed(laps), seconds_per_op(spec_, laps, count));
}

void rounds::follow() {
  while (const auto count = hear<std::uint64_t>(other_)) {
    std::barrier prepared(spec_.threads);
    on_threads(spec_.threads, [&](int t) {
      at(t).prepare();
      prepared.arrive_and_wait();
      if (t == 0) tell(other_, true);
      at(t).respond(count);
    });
  }
}

}  // namespace heddle::bench
