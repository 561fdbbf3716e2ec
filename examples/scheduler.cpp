// SPDX-License-Identifier: BSD-3-Clause
// scheduler.cpp - hides the network behind tasks: each thread looks up thousands of keys in a hash
// table spread over all ranks, and each look-up is a chain of reads that need each other. With one
// task per thread it waits for each read; with many, whichever has its answer goes on.
//   heddle run -n 2 --env HEDDLE_BACKENDS=tcp -- scheduler
#include <heddle/heddle.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

constexpr std::uint64_t slots = 1024, chain = 3;       // of the table, per rank; reads per look-up
constexpr std::uint64_t threads = 2, look_ups = 2400;  // per rank, per thread

struct table {
  std::vector<std::uint64_t> own = std::vector<std::uint64_t>(slots);
  std::vector<heddle::remote_region> parts;  // by rank; `own` is one of them

  static std::uint64_t next(std::uint64_t place, std::uint64_t places) {
    return (place * 2'654'435'761u + 12'345) % places;
  }
  [[nodiscard]] std::uint64_t places() const { return parts.size() * slots; }
  [[nodiscard]] heddle::remote_ptr<std::uint64_t> at(std::uint64_t place) const {
    return parts[place / slots].at_item<std::uint64_t>(place % slots);
  }
};

/// One of `tasks` tasks of a thread: does every tasks-th look-up, one after the other.
heddle::task<heddle::status> look_up(heddle::async_lane lane, const table& t, std::uint64_t first,
                                     std::uint64_t tasks) {
  for (std::uint64_t key = first; key < look_ups; key += tasks) {
    std::uint64_t place = key % t.places(), expected = place;
    for (std::uint64_t i = 0; i < chain; ++i) {
      expected = table::next(expected, t.places());
      const auto answer = co_await lane.get(place, t.at(place));
      if (answer != heddle::status::done) co_return answer;
    }
    if (place != expected) co_return heddle::status::invalid;
  }
  co_return heddle::status::done;
}

/// Reads per second and rank with `tasks` tasks in each thread; 0: something went wrong.
double rate(std::vector<heddle::lane>& lanes, const table& t, std::uint64_t tasks) {
  std::vector<heddle::counter> ended(threads);
  std::vector<std::thread> team;
  const auto start = std::chrono::steady_clock::now();
  for (std::uint64_t n = 0; n < threads; ++n)
    team.emplace_back([&, n] {  // a lane for each thread: they share nothing
      for (std::uint64_t i = 0; i < tasks; ++i)
        heddle::spawn(look_up(heddle::async_lane(lanes[n]), t, i, tasks), ended[n]);
      static_cast<void>(lanes[n].wait(ended[n], tasks));
    });
  for (std::thread& each : team) each.join();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  for (const heddle::counter& c : ended)
    if (c.first_failure() != heddle::status::done) return 0;
  return static_cast<double>(threads * look_ups * chain) / took.count();
}

int main() try {
  heddle::world world;
  std::vector<heddle::lane> lanes;
  for (std::uint64_t n = 0; n < threads; ++n) lanes.emplace_back(world);
  table t;
  const heddle::region exposed = world.expose(std::as_writable_bytes(std::span(t.own)));
  const auto keys = world.symmetric<heddle::key>(1);
  keys.local()[0] = exposed.key();
  world.barrier();  // all keys are there
  for (int r = 0; r < world.size(); ++r) {
    heddle::key theirs;
    if (lanes[0].get(theirs, keys.at(r)) != heddle::status::done) return 1;
    t.parts.push_back(world.import(theirs));
  }
  const auto self = static_cast<std::uint64_t>(world.rank());
  for (std::uint64_t i = 0; i < slots; ++i) t.own[i] = table::next(self * slots + i, t.places());
  world.barrier();  // all tables are ready

  for (const std::uint64_t tasks : {1u, 256u}) {
    const double reads = rate(lanes, t, tasks);
    world.barrier();  // the table stays until all have read
    if (reads == 0) return 1;
    if (world.rank() == 0)
      std::printf("%3d tasks per thread: %8.0f reads/s\n", static_cast<int>(tasks), reads);
  }
  return 0;
} catch (const heddle::error& reason) {
  std::fprintf(stderr, "scheduler: %s\n", reason.what());
  return 1;
}
