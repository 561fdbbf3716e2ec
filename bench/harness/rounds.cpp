// SPDX-License-Identifier: BSD-3-Clause
// rounds.cpp - agreeing on a count with the partner, and threads that start together.
#include "harness/rounds.h"

#include <barrier>

#include "harness/threads.h"

namespace heddle::bench {

rounds::rounds(partner& other, const spec& s, exchanges all, bool stamps, time_source now)
    : other_(other), spec_(s), all_(std::move(all)), stamps_(stamps), now_(now), pacer_(s) {}

round_result rounds::lead() {
  std::vector<double> stamps;
  pacer_.begin_round();
  while (const std::uint64_t count = pacer_.count()) {
    if (pacer_.stamped() && !stamps_) break;
    run(count, pacer_.stamped() ? &stamps : nullptr);
  }
  tell(other_, std::uint64_t{0});
  for (double& seconds : stamps) seconds = figure(spec_, seconds * share_of_trip(spec_));
  return {{figure(spec_, pacer_.result())}, std::move(stamps)};
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
