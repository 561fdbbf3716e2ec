// gups.cpp - random updates by two ranks: as many as `heddle bench gups` would make, and verified.
#include <fmt/core.h>

#include <algorithm>

#include "bench/peer_line.h"
#include "bench/threads.h"
#include "peers/party.h"
#include "peers/telling.h"

namespace heddle::peers {
namespace {

class gups_rounds {
 public:
  gups_rounds(party& self, const task& t)
      : self_(self), task_(t), pacer_(self.words().size(), t.what.threads, t.what.time, false) {
    plan_ = {.ranks = 2,
             .threads = t.what.threads,
             .words = self.words().size(),
             .first = bench::far_from_the_beginning};
    for (int i = 0; i < t.what.threads; ++i) updaters_.push_back(self.make_updater(i));
  }

  /// Rank 0: seconds per update of one round.
  double next() {
    while (pacer_.learning()) pacer_.end_run(lead());
    return lead() / static_cast<double>(plan_.pieces() * plan_.updates);
  }
  /// Rank 0: no more rounds.
  void finish() { tell(self_, std::uint64_t{0}); }
  /// Rank 1: all rounds.
  void follow() {
    while (const auto updates = hear<std::uint64_t>(self_)) (void)run(updates);
  }

 private:
  double lead() {
    tell(self_, pacer_.updates());
    return run(pacer_.updates());
  }
  /// On fresh tables: the seconds of the slower rank.
  double run(std::uint64_t updates) {
    bench::reset_table(self_.words());
    plan_.first += plan_.pieces() * plan_.updates;
    plan_.updates = updates;
    (void)swap(self_, true);
    const bench::clock::time_point begin = bench::clock::now();
    bench::on_threads(
        plan_.threads,
        [this](int t) { updaters_[static_cast<std::size_t>(t)]->update(plan_, self_.rank()); }, "");
    const double mine = bench::seconds_between(begin, bench::clock::now());
    const double slower = std::max(mine, swap(self_, mine));
    verify();
    return slower;
  }
  void verify() {
    const std::uint64_t lost = bench::count_lost(self_.words(), plan_, self_.rank());
    const std::uint64_t all = lost + swap(self_, lost);
    const double share =
        static_cast<double>(all) / static_cast<double>(plan_.pieces() * plan_.updates);
    if (share > (task_.atomic ? 0 : bench::tolerated_losses))
      throw std::runtime_error(fmt::format("{:.2f} % of the updates were lost", share * 100));
  }

  party& self_;
  const task& task_;
  bench::gups_pacer pacer_;
  bench::gups_plan plan_;
  std::vector<std::unique_ptr<updater>> updaters_;  // one per thread
};

}  // namespace

void measure_gups(party& self, const task& t) {
  gups_rounds all(self, t);
  if (self.rank() == 1) return all.follow();
  for (int i = 0; i < t.rounds; ++i) print({.seconds_per_op = all.next(), .sides = {}});
  all.finish();
}

}  // namespace heddle::peers
