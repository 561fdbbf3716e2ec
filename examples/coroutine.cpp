// SPDX-License-Identifier: BSD-3-Clause
// coroutine.cpp - thousands of walks through a table spread over all ranks. Each step needs the
// one before, so a single walk is as slow as the network; together they keep it busy.
//   heddle run -n 4 --env HEDDLE_BACKENDS=tcp -- coroutine
#include <heddle/heddle.h>

#include <cstdint>
#include <cstdio>
#include <vector>

constexpr std::uint64_t slots = 4096;  // of the table, per rank
constexpr std::uint64_t walks = 2000;  // per rank, all at the same time
constexpr int steps = 10;

using table = heddle::symmetric<std::uint64_t>;

std::uint64_t next_of(std::uint64_t place, std::uint64_t places) {
  return (place * 2'654'435'761u + 12'345) % places;
}

heddle::task<heddle::status> walk(heddle::async_lane lane, const table& links,
                                  std::uint64_t& place) {
  for (int step = 0; step < steps; ++step) {
    const auto rank = static_cast<heddle::rank>(place / slots);
    const auto answer = co_await lane.get(place, links.at(rank, place % slots));
    if (answer != heddle::status::done) co_return answer;
  }
  co_return heddle::status::done;
}

int main() try {
  heddle::world world;
  heddle::lane lane(world);
  const table links = world.symmetric<std::uint64_t>(slots);
  const auto self = static_cast<std::uint64_t>(world.rank());
  const auto places = static_cast<std::uint64_t>(world.size()) * slots;
  for (std::uint64_t i = 0; i < slots; ++i) {
    links.local()[i] = next_of(self * slots + i, places);
  }
  if (heddle::barrier(lane) != heddle::status::done) return 1;  // all tables are ready

  std::vector<std::uint64_t> place(walks);
  heddle::counter ended;
  for (std::uint64_t i = 0; i < walks; ++i) {
    place[i] = (self * walks + i) % places;
    heddle::spawn(walk(heddle::async_lane(lane), links, place[i]), ended);
  }
  if (lane.wait(ended, walks) != heddle::status::done) return 1;

  for (std::uint64_t i = 0; i < walks; ++i) {
    std::uint64_t expected = (self * walks + i) % places;
    for (int step = 0; step < steps; ++step) expected = next_of(expected, places);
    if (place[i] != expected) return 1;
  }
  if (world.rank() == 0) std::printf("%d walks of %d steps per rank\n", int{walks}, steps);
  return heddle::barrier(lane) == heddle::status::done ? 0 : 1;  // the table stays until all read
} catch (const heddle::error& reason) {
  std::fprintf(stderr, "coroutine: %s\n", reason.what());
  return 1;
}
