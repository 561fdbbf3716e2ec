// SPDX-License-Identifier: BSD-3-Clause
// put_get.cpp - writes into the next rank's memory, then reads it back from there. Nobody at the
// other end calls anything for that.
//   heddle run -n 2 -- put_get
#include <heddle/heddle.h>

#include <cstdint>
#include <cstdio>

constexpr std::uint64_t slots = 1000;

std::uint64_t value(int writer, std::uint64_t slot) {
  return static_cast<std::uint64_t>(writer) * 1'000'000 + slot;
}

int main() try {
  heddle::world world;
  heddle::lane lane(world);
  auto table = world.symmetric<std::uint64_t>(slots);  // on every rank
  const int next = (world.rank() + 1) % world.size();
  const int previous = (world.rank() + world.size() - 1) % world.size();

  for (std::uint64_t slot = 0; slot < slots; ++slot) {
    if (lane.put(value(world.rank(), slot), table.at(next, slot)) != heddle::status::done) return 1;
  }
  if (heddle::barrier(lane) != heddle::status::done) return 1;  // all have written

  for (std::uint64_t slot = 0; slot < slots; ++slot) {
    std::uint64_t there = 0;
    if (lane.get(there, table.at(next, slot)) != heddle::status::done) return 1;
    if (there != value(world.rank(), slot)) return 1;
    if (table.local()[slot] != value(previous, slot)) return 1;
  }
  if (heddle::barrier(lane) != heddle::status::done) return 1;  // all have read: the table may end
  if (world.rank() == 0) std::printf("put and got %d x %d values\n", world.size(), int{slots});
  return 0;
} catch (const heddle::error& reason) {
  std::fprintf(stderr, "put_get: %s\n", reason.what());
  return 1;
}
