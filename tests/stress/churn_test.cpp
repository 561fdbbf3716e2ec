// SPDX-License-Identifier: BSD-3-Clause
// churn_test.cpp - what comes and goes leaves nothing behind: neither descriptors nor memory.
#include <heddle/heddle.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "stress/ways.h"
#include "support/heap.h"

namespace heddle::test {
namespace {

constexpr std::size_t bytes = 5000;

/// What this process, all its ranks together, has at a moment. One rank asks while the others wait,
/// because to ask takes descriptors and 40 KiB of the heap itself. Pages that are touched are not
/// counted: arenas of the allocator and tables of the software devices grow into theirs for long.
struct holdings {
  long descriptors, mappings;
  std::size_t heap_bytes;

  static holdings now() {
    namespace fs = std::filesystem;
    std::ifstream maps("/proc/self/maps");
    using lines = std::istreambuf_iterator<char>;
    return {std::distance(fs::directory_iterator("/proc/self/fd"), {}),
            std::count(lines(maps), lines(), '\n'), bytes_from_the_heap()};
  }
};

/// That the rounds between three moments have kept nothing each. A table that grows at last grows
/// in one of the two spans; what each round leaves behind grows in both. 20 KiB are for a buffer of
/// a wire that is in use at one moment and not at another, or what a lane makes at its first
/// message that nobody has asked for yet.
void expect_flat(const holdings& first, const holdings& middle, const holdings& last, int rounds) {
  EXPECT_LE(last.descriptors, first.descriptors + rounds / 10);
  if (sanitized) return;  // its runtime maps, and keeps what was freed
  EXPECT_LE(last.mappings, first.mappings + rounds / 10);
  constexpr std::size_t leeway = 20 * 1024;
  EXPECT_TRUE(middle.heap_bytes <= first.heap_bytes + leeway ||
              last.heap_bytes <= middle.heap_bytes + leeway)
      << first.heap_bytes << ", " << middle.heap_bytes << ", " << last.heap_bytes;
}

/// Rank 1 shows memory that rank 0 writes to and reads back; then it is gone.
void show_and_withdraw(world& w, lane& l, int round, std::vector<std::byte>& memory) {
  const auto seed = static_cast<std::uint64_t>(round);
  key k;
  if (w.rank() == 1) {
    region mine = w.expose(memory, rights::all);
    k = mine.key();
    ASSERT_EQ(l.send(0, 1, k.bytes), status::done);
    ASSERT_EQ(l.recv(0, 2, {}).code, status::done);
    ASSERT_TRUE(is_pattern(memory, seed));
    return;
  }
  ASSERT_EQ(l.recv(1, 1, k.bytes).code, status::done);
  const remote_region there = w.import(k);
  const auto data = pattern(bytes, seed);
  std::vector<std::byte> back(bytes);
  ASSERT_EQ(l.put(data, there.at(0)), status::done);
  ASSERT_EQ(l.get(back, there.at(0)), status::done);
  ASSERT_EQ(back, data);
  ASSERT_EQ(l.send(1, 2, {}), status::done);
}

TEST_P(Stress, RegionsThatComeAndGoLeaveNothingBehind) {
  const int rounds = amount(1500, 100);
  run_ranks(2, config(), [&](world& w) {
    lane l(w);
    std::vector<std::byte> memory(bytes);
    std::vector<holdings> moments;
    const auto look = [&] {
      w.barrier();
      if (w.rank() == 0) moments.push_back(holdings::now());
      w.barrier();
    };
    for (int i = 0; i < rounds; ++i) {
      if (i == rounds / 3 || i == rounds * 2 / 3) look();
      show_and_withdraw(w, l, i, memory);
      ASSERT_FALSE(testing::Test::HasFatalFailure());
    }
    look();
    if (w.rank() == 0) expect_flat(moments[0], moments[1], moments[2], rounds * 2 / 3);
  });
}

TEST_P(Stress, WorldsThatComeAndGoLeaveNothingBehind) {
  const int rounds = amount(20, 6);
  const auto one = [&] {
    run_ranks(2, config(), [&](world& w) {
      lane l(w);
      std::vector<std::byte> memory(bytes);
      show_and_withdraw(w, l, 1, memory);
    });
  };
  for (int i = 0; i < rounds / 2; ++i) one();
  const holdings before = holdings::now();
  for (int i = 0; i < rounds / 2; ++i) one();
  const holdings after = holdings::now();
  EXPECT_LT(after.descriptors, before.descriptors + rounds / 2);  // not one each
}

}  // namespace
}  // namespace heddle::test
