// SPDX-License-Identifier: BSD-3-Clause
// measure_test.cpp - whole runs on ranks that are threads: complete matrices, corruption found,
// dead ranks and cut links marked, a stop agreed by all.
#include "linktest/measure/measure.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "linktest/measure/test_fabric.h"

namespace heddle::linktest {
namespace {

options quick(run_mode mode, kernel k) {
  options how;
  how.mode = mode;
  how.kernel = k;
  how.sizes = {8, 1000};
  how.messages = 3;
  how.warmup = 1;
  how.repetitions = 2;
  how.most_repetitions = 4;
  how.singles = 5;
  return how;
}

struct whole_run {
  results all;
  std::vector<run_result> by_rank;
};

/// Runs on all ranks of `fabric` but those in `absent`, and gathers.
whole_run run_all(test_fabric& fabric, const options& how, const std::set<rank>& absent = {},
                  const observer& watch = {[](const progress&) {}, [] { return false; }}) {
  const int n = fabric.ranks();
  whole_run out{results(n, how.kernel, how.sizes), {}};
  out.by_rank.resize(static_cast<std::size_t>(n), {row(0, n, 0)});
  fabric.run([&](messenger& wire) {
    if (absent.contains(wire.self())) return;
    std::vector<std::byte> send(1000), receive(receive_bytes(how));
    meeting ranks(wire);
    visit_log nowhere;
    run_result mine = measure(ranks, how, {send, receive}, {}, watch, nowhere);
    results found(n, how.kernel, how.sizes);
    const gathered got = gather_rows(ranks, mine.measured, plan_of(how, n), found);
    EXPECT_NE(got.rows, gathered::place::nowhere);
    if (got.rows == gathered::place::here) out.all = found;
    out.by_rank[static_cast<std::size_t>(wire.self())] = std::move(mine);
  });
  return out;
}

TEST(Measure, FillsTheWholeMatrixInEveryModeAndKernelForEvenAndOddRanks) {
  for (const run_mode mode : {run_mode::parallel, run_mode::serial}) {
    for (const kernel k : {kernel::semi, kernel::bi, kernel::uni}) {
      for (const int n : {2, 3, 4, 5}) {
        test_fabric fabric(n);
        const whole_run run = run_all(fabric, quick(mode, k));
        const auto pairs = static_cast<std::uint64_t>(n * (n - 1));
        EXPECT_EQ(run.all.count(pair_state::measured), 2 * pairs);
        EXPECT_GT(run.all.summary(0, metric::time_min).min, 0);
        for (int r = 0; r < n; ++r)
          EXPECT_EQ(run.all.at(0, r, r).state, pair_state::unmeasured) << "a rank met itself";
      }
    }
  }
}

TEST(Measure, ReportsTheDirectionAndSizesThatArriveCorrupted) {
  for (const kernel k : {kernel::semi, kernel::bi, kernel::uni}) {
    test_fabric fabric(4);
    fabric.corrupt(2, 1, 1000);
    const whole_run run = run_all(fabric, quick(run_mode::parallel, k));
    EXPECT_EQ(run.all.at(1, 2, 1).state, pair_state::corrupted);
    EXPECT_EQ(run.all.at(0, 2, 1).state, pair_state::measured) << "small messages were right";
    // uni sends one way only, so from 1 to 2 nothing was damaged; the others bounce.
    EXPECT_EQ(run.all.at(1, 1, 2).state,
              k == kernel::uni ? pair_state::measured : pair_state::corrupted);
    EXPECT_EQ(run.all.count(pair_state::corrupted), k == kernel::uni ? 1u : 2u);
  }
}

TEST(Measure, GoesOnWithoutADeadRankAndMarksItsRowAndColumn) {
  for (const run_mode mode : {run_mode::parallel, run_mode::serial}) {
    for (const int dead : {0, 2}) {  // rank 1 reports in place of rank 0
      test_fabric fabric(5);
      fabric.kill(dead);
      const whole_run run = run_all(fabric, quick(mode, kernel::semi), {dead});
      for (int r = 0; r < 5; ++r) {
        for (int p = 0; p < 5; ++p) {
          if (r == p) continue;
          EXPECT_EQ(run.all.at(0, r, p).state,
                    r == dead || p == dead ? pair_state::lost : pair_state::measured)
              << r << " -> " << p;
        }
      }
    }
  }
}

TEST(Measure, OfASampleLosesOfADeadRankOnlyThePairsThatWereToBeMeasured) {
  constexpr int n = 8, dead = 3;
  test_fabric fabric(n);
  fabric.kill(dead);
  options how = quick(run_mode::parallel, kernel::semi);
  how.search.pairs = 2;
  const whole_run run = run_all(fabric, how, {dead});
  EXPECT_EQ(run.all.count(pair_state::lost), 2u * 2 * 2);  // partners, directions, sizes
  EXPECT_EQ(run.all.count(pair_state::measured), 2u * 2 * n - 2 * 2 * 2);
}

TEST(Measure, KeepsOfEachRankOnlyThePeersThatItMeets) {
  constexpr int n = 16;
  test_fabric fabric(n);
  options how = quick(run_mode::parallel, kernel::semi);
  how.search.pairs = 3;
  const whole_run run = run_all(fabric, how);
  for (const run_result& mine : run.by_rank)
    EXPECT_EQ(mine.measured.records().size(), 3u * how.sizes.size());
}

TEST(Measure, LosesOnlyThePairWhoseLinkIsCut) {
  test_fabric fabric(6);
  fabric.cut(1, 4);
  const whole_run run = run_all(fabric, quick(run_mode::parallel, kernel::semi));
  EXPECT_EQ(run.all.at(0, 1, 4).state, pair_state::lost);
  EXPECT_EQ(run.all.at(0, 4, 1).state, pair_state::lost);
  EXPECT_EQ(run.all.count(pair_state::lost), 4u);  // two directions, two sizes
  EXPECT_EQ(run.all.count(pair_state::measured), 2u * 30 - 4);
}

TEST(Measure, KeepsWhatWasMeasuredBeforeARankDied) {
  test_fabric fabric(4);
  options how = quick(run_mode::serial, kernel::semi);
  how.repetitions = 2;
  std::atomic<int> units{0};
  const observer watch{
      [&](const progress& p) {
        // Relaxed: only counts. The first repetition has 12 units.
        if (p.units_done == 12 && units.fetch_add(1, std::memory_order_relaxed) == 0)
          fabric.cut(1, 3);
      },
      [] { return false; }};
  const whole_run run = run_all(fabric, how, {}, watch);
  EXPECT_EQ(run.all.at(0, 3, 2).state, pair_state::measured);
  EXPECT_EQ(run.all.at(0, 1, 3).state, pair_state::lost);
  EXPECT_FALSE(std::isnan(run.all.at(0, 1, 3).time.median)) << "the first repetition's time";
}

TEST(Measure, StopsEverywhereAfterTheSameUnitWhenOneRankWantsTo) {
  test_fabric fabric(4);
  std::atomic<int> asked{0};
  const observer watch{[](const progress&) {},
                       [&] { return asked.fetch_add(1, std::memory_order_relaxed) == 9; }};
  const whole_run run = run_all(fabric, quick(run_mode::parallel, kernel::semi), {}, watch);
  for (const run_result& mine : run.by_rank) {
    EXPECT_TRUE(mine.stopped);
    EXPECT_EQ(mine.units_done, run.by_rank[0].units_done);
    EXPECT_LT(mine.units_done, 12u);
  }
  EXPECT_GT(run.all.count(pair_state::unmeasured), 0u);
}

TEST(Measure, TellsItsProgressAfterEveryUnit) {
  test_fabric fabric(2);
  std::vector<std::uint64_t> seen;
  std::mutex guard;
  const observer watch{[&](const progress& p) {
                         const std::lock_guard lock(guard);
                         seen.push_back(p.units_done);
                         EXPECT_EQ(p.units, 4u);  // 2 repetitions, 1 step, 2 phases
                         EXPECT_EQ(p.steps, 1);
                       },
                       [] { return false; }};
  run_all(fabric, quick(run_mode::parallel, kernel::semi), {}, watch);
  EXPECT_EQ(seen.size(), 8u);
}

}  // namespace
}  // namespace heddle::linktest
