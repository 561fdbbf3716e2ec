// round.cpp - the threads of a round: agreeing on counts with the partner, starting together.
#include "bench/round.h"

#include <barrier>

#include "bench/laps.h"
#include "bench/threads.h"

namespace heddle::bench {
namespace {

/// Tells the partner's thread how many operations come (0: the round is over) and, unless none,
/// waits until it is ready.
void announce(station& at, const spec& s, int thread, const std::uint64_t& count) {
  lane& l = at.lane_of(s, thread);
  const auto bytes = std::as_bytes(std::span(&count, 1));
  require(l.send(at.peer(), tag_of(purpose::count, thread), bytes), "announce a run");
  if (count == 0) return;
  require(l.recv(at.peer(), tag_of(purpose::ready, thread), {}).code, "wait for the target");
}

/// The other end of announce, up to being ready.
std::uint64_t await_announcement(station& at, const spec& s, int thread) {
  std::uint64_t count = 0;
  const auto bytes = std::as_writable_bytes(std::span(&count, 1));
  require(at.lane_of(s, thread).recv(at.peer(), tag_of(purpose::count, thread), bytes).code,
          "wait for a run");
  return count;
}

}  // namespace

rounds::rounds(station& at, const spec& s, bool crowded)
    : at_(at), spec_(s), gear_(at, s), pacer_(s) {
  for (int t = 0; t < s.threads; ++t) {
    exchanges_.push_back(make_exchange({at_, gear_, spec_, t, crowded}));
  }
}

round_result rounds::next() {
  if (at_.initiates()) return initiate();
  respond();
  return {};
}

round_result rounds::initiate() {
  std::vector<double> stamps;
  std::vector<lap_times> laps(exchanges_.size());
  pacer_.begin_round();
  std::barrier together(static_cast<std::ptrdiff_t>(exchanges_.size()));
  const auto end_run = [&]() noexcept {
    pacer_.end_run(elapsed(laps), seconds_per_op(spec_, laps, pacer_.count()));
  };
  std::barrier run_ended(static_cast<std::ptrdiff_t>(exchanges_.size()), end_run);
  on_threads(spec_.threads, [&](int t) {
    exchange& mine = *exchanges_[static_cast<std::size_t>(t)];
    while (const std::uint64_t count = pacer_.count()) {
      announce(at_, spec_, t, count);
      stopwatch watch(pacer_.stamped() && t == 0 ? &stamps : nullptr);
      together.arrive_and_wait();
      lap_times& lap = laps[static_cast<std::size_t>(t)];
      lap.start = clock::now();
      mine.initiate(count, watch);
      lap.end = clock::now();
      mine.conclude();
      run_ended.arrive_and_wait();
    }
    announce(at_, spec_, t, 0);
  });
  for (double& seconds : stamps) seconds *= share_of_trip(spec_);
  return {pacer_.result(), std::move(stamps)};
}

void rounds::respond() {
  on_threads(spec_.threads, [&](int t) {
    exchange& mine = *exchanges_[static_cast<std::size_t>(t)];
    while (const std::uint64_t count = await_announcement(at_, spec_, t)) {
      mine.prepare();
      require(at_.lane_of(spec_, t).send(at_.peer(), tag_of(purpose::ready, t), {}), "be ready");
      mine.respond(count);
    }
  });
}

}  // namespace heddle::bench
