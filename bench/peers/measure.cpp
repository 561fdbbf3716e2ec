// measure.cpp - rounds of a peer, paced and timed as Heddle's own are.
#include <fmt/core.h>

#include <barrier>
#include <chrono>
#include <vector>

#include "bench/laps.h"
#include "bench/pacer.h"
#include "bench/threads.h"
#include "peers/party.h"
#include "peers/telling.h"

namespace heddle::peers {
namespace {

using clock = std::chrono::steady_clock;

/// Runs `work(thread)` on all threads, which begin together.
template <class F>
void together(int threads, F&& work) {
  std::barrier start(threads);
  const auto begin = [&](int t) {
    start.arrive_and_wait();
    work(t);
  };
  bench::on_threads(threads, begin, "");
}

/// The rounds of a latency, rate or bandwidth.
class rounds {
 public:
  rounds(party& self, const task& t) : self_(self), task_(t), pacer_(t.what) {
    for (int i = 0; i < t.what.threads; ++i) exchanges_.push_back(self.make_exchange(i));
  }

  /// Rank 0: one round. Seconds per operation.
  double next() {
    pacer_.begin_round();
    while (!pacer_.stamped() && pacer_.count() != 0) {
      const std::uint64_t count = pacer_.count();
      const std::vector<bench::lap_times> laps = initiate(count);
      pacer_.end_run(bench::elapsed(laps), bench::seconds_per_op(task_.what, laps, count));
    }
    return pacer_.result();
  }
  /// Rank 0: no more rounds.
  void finish() { tell(self_, std::uint64_t{0}); }

  /// Rank 1: all rounds.
  void respond() {
    while (const auto count = hear<std::uint64_t>(self_)) {
      for (auto& e : exchanges_) e->prepare();
      tell(self_, true);
      together(task_.what.threads, [&](int t) { at(t).respond(count); });
    }
  }

 private:
  exchange& at(int thread) { return *exchanges_[static_cast<std::size_t>(thread)]; }

  std::vector<bench::lap_times> initiate(std::uint64_t count) {
    tell(self_, count);
    (void)hear<bool>(self_);
    std::vector<bench::lap_times> laps(exchanges_.size());
    together(task_.what.threads, [&](int t) {
      bench::lap_times& lap = laps[static_cast<std::size_t>(t)];
      lap.start = clock::now();
      at(t).initiate(count);
      lap.end = clock::now();
      at(t).conclude();
    });
    return laps;
  }

  party& self_;
  const task& task_;
  std::vector<std::unique_ptr<exchange>> exchanges_;  // one per thread
  bench::pacer pacer_;
};

void measure_rounds(party& self, const task& t) {
  rounds all(self, t);
  if (self.rank() == 1) return all.respond();
  for (int i = 0; i < t.rounds; ++i) print({.seconds_per_op = all.next(), .sides = {}});
  all.finish();
}

void measure_overlap(party& self, const task& t) {
  const auto side = self.make_side();
  const auto count = bench::overlap_iterations(t.what.time, t.what.bytes, t.compute_us);
  const double seconds = bench::computes(t.who, self.rank() == 0) ? t.compute_us * 1e-6 : 0;
  for (int i = 0; i < t.rounds; ++i) {
    const bench::side_times alone = bench::overlap_pass(*side, count, 0);
    const bench::side_round mine{alone, bench::overlap_pass(*side, count, seconds)};
    if (self.rank() == 1) {
      tell(self, mine);
    } else {
      print({.seconds_per_op = {}, .sides = {{mine, hear<bench::side_round>(self)}}});
    }
  }
}

}  // namespace

std::span<std::uint64_t> party::words() {
  throw std::runtime_error("this library has no GUPS here");
}
std::unique_ptr<updater> party::make_updater(int) {
  throw std::logic_error("without words() there is nothing to update");
}

void measure(party& self, const task& t) {
  if (t.overlap) {
    measure_overlap(self, t);
  } else if (t.gups) {
    measure_gups(self, t);
  } else {
    measure_rounds(self, t);
  }
}

int guarded(const char* program, const std::function<void()>& body) {
  try {
    body();
    return 0;
  } catch (const std::exception& why) {
    fmt::print(stderr, "{}: {}\n", program, why.what());
    return 1;
  }
}

}  // namespace heddle::peers
