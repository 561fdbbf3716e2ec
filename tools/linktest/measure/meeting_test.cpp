// SPDX-License-Identifier: BSD-3-Clause
// meeting_test.cpp - nobody leaves a meeting before all have come; notes reach all; the dead are
// left out.
#include "linktest/measure/meeting.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>

#include "linktest/measure/test_fabric.h"

namespace heddle::linktest {
namespace {

TEST(Meeting, LetsNobodyLeaveBeforeAllHaveCome) {
  for (const int n : {1, 2, 3, 5, 8}) {
    test_fabric fabric(n);
    std::atomic<int> arrived{0};
    fabric.run([&](messenger& wire) {
      meeting ranks(wire);
      for (int round = 1; round <= 20; ++round) {
        arrived.fetch_add(1, std::memory_order_acq_rel);  // pairs with the load below
        ranks.meet(nothing_special);
        EXPECT_GE(arrived.load(std::memory_order_acquire), n * round);
      }
    });
  }
}

TEST(Meeting, CarriesOneRanksNoteToAll) {
  for (int speaker = 0; speaker < 5; ++speaker) {
    test_fabric fabric(5);
    fabric.run([&](messenger& wire) {
      meeting ranks(wire);
      EXPECT_EQ(ranks.meet(nothing_special), nothing_special);
      EXPECT_EQ(ranks.meet(wire.self() == speaker ? stop_requested : nothing_special),
                stop_requested);
      EXPECT_EQ(ranks.meet(nothing_special), nothing_special);
    });
  }
}

TEST(Meeting, GoesOnWithoutADeadRank) {
  test_fabric fabric(5);
  fabric.kill(3);
  std::array<std::atomic<bool>, 5> noticed{};
  fabric.run([&](messenger& wire) {
    if (wire.self() == 3) return;
    meeting ranks(wire);
    for (int round = 0; round < 3; ++round) ranks.meet(nothing_special);
    noticed[static_cast<std::size_t>(wire.self())].store(ranks.lost(3), std::memory_order_relaxed);
  });
  // With distances 1, 2 and 4 everybody deals with rank 3. Relaxed: run() has joined the threads.
  for (const std::size_t r : {0u, 1u, 2u, 4u})
    EXPECT_TRUE(noticed[r].load(std::memory_order_relaxed)) << r;
}

/// Whom each rank but the dead ones chooses as recorder; -1 for those.
std::vector<rank> choices(test_fabric& fabric, const std::set<rank>& dead) {
  std::vector<rank> chosen(static_cast<std::size_t>(fabric.ranks()), -1);
  for (const rank r : dead) fabric.kill(r);
  fabric.run([&](messenger& wire) {
    if (dead.contains(wire.self())) return;
    meeting ranks(wire);
    chosen[static_cast<std::size_t>(wire.self())] = ranks.choose_recorder();
  });
  return chosen;
}

TEST(Meeting, ChoosesTheLowestLivingRankAsRecorder) {
  test_fabric whole(4), without_two(9), last(3);
  EXPECT_EQ(choices(whole, {}), (std::vector<rank>{0, 0, 0, 0}));
  EXPECT_EQ(choices(without_two, {0, 1}), (std::vector<rank>{-1, -1, 2, 2, 2, 2, 2, 2, 2}));
  EXPECT_EQ(choices(last, {0, 1}), (std::vector<rank>{-1, -1, 2}));
}

TEST(Meeting, ChoosesARecorderThatAllCanReach) {
  test_fabric fabric(4);
  fabric.cut(0, 3);
  EXPECT_EQ(choices(fabric, {}), (std::vector<rank>{1, 1, 1, 1}));
}

TEST(Meeting, FallsBackToRankZeroWhenEverybodyIsLostToSomebody) {
  test_fabric fabric(4);
  fabric.cut(0, 3);
  fabric.cut(1, 2);
  EXPECT_EQ(choices(fabric, {}), (std::vector<rank>{0, 0, 0, 0}));
}

}  // namespace
}  // namespace heddle::linktest
