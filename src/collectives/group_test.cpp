// SPDX-License-Identifier: BSD-3-Clause
// group_test.cpp - groups on real lanes, ranks as threads of one process.
#include <gtest/gtest.h>
#include <heddle/heddle.h>

#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/ranks.h"

namespace heddle {
namespace {

constexpr int ranks = 6;

/// Parameter: the backend.
class Group : public testing::TestWithParam<std::string> {
 protected:
  static void on_all_ranks(const std::function<void(world&, lane&)>& body) {
    test::run_ranks(ranks, test::settings_for(GetParam()), [&](world& here) {
      lane on(here);
      body(here, on);
    });
  }
};

TEST_P(Group, OfALaneHasItsRanks) {
  on_all_ranks([](world& here, lane& on) {
    group all(on);
    EXPECT_EQ(all.ranks(), ranks);
    EXPECT_EQ(all.self(), here.rank());
    EXPECT_EQ(all.world_rank(3), 3);
    EXPECT_EQ(all.world_rank(ranks), -1);
    EXPECT_EQ(all.member(-1), -1);
    int sum = 1;
    EXPECT_EQ(allreduce(all, std::span(&sum, 1), std::span(&sum, 1), reduce_op::sum), status::done);
    EXPECT_EQ(sum, ranks);
    EXPECT_EQ(barrier(on), status::done);
  });
}

TEST_P(Group, RowsAndColumnsOfAGridHaveSumsOfTheirOwn) {
  on_all_ranks([](world& here, lane& on) {
    group row, column;
    ASSERT_EQ(split(on, here.rank() / 3, 0, row), status::done);
    ASSERT_EQ(split(on, here.rank() % 3, 0, column), status::done);
    EXPECT_EQ(row.ranks(), 3);
    EXPECT_EQ(column.ranks(), 2);
    int across = here.rank(), down = here.rank();
    counter ended;
    const std::span a(&across, 1), d(&down, 1);
    (void)ended.track(try_allreduce(row, a, a, reduce_op::sum, ended));
    (void)ended.track(try_allreduce(column, d, d, reduce_op::sum, ended));
    EXPECT_EQ(barrier(on), status::done);
    EXPECT_EQ(on.wait(ended, 2), status::done);
    EXPECT_EQ(across, here.rank() / 3 == 0 ? 3 : 12);
    EXPECT_EQ(down, 2 * (here.rank() % 3) + 3);
  });
}

TEST_P(Group, OfNobodyIsRefused) {
  on_all_ranks([](world& here, lane& on) {
    group some;
    ASSERT_EQ(split(on, here.rank() == 2 ? no_color : 0, 0, some), status::done);
    if (here.rank() != 2) {
      EXPECT_EQ(barrier(some), status::done);
      return;
    }
    EXPECT_EQ(some.ranks(), 0);
    EXPECT_EQ(some.self(), -1);
    EXPECT_EQ(some.on(), nullptr);
    group more;
    EXPECT_EQ(barrier(some), status::invalid);
    EXPECT_EQ(split(some, 0, 0, more), status::invalid);
    EXPECT_EQ(survivors(some, more), status::invalid);
    flag ended;
    EXPECT_EQ(try_barrier(some, ended), status::posted);
    EXPECT_EQ(on.wait(ended), status::invalid);
  });
}

task<status> sum_in_halves(async_group all, int me, int& sum) {
  group half;
  const status parted = co_await split(all, me % 2, -me, half);
  if (parted != status::done) co_return parted;
  const async_group mine(half);
  const status summed =
      co_await allreduce(mine, std::span<const int>(&sum, 1), std::span(&sum, 1), reduce_op::sum);
  if (summed != status::done) co_return summed;
  co_return co_await barrier(mine);
}

TEST_P(Group, CanBeAwaited) {
  on_all_ranks([](world& here, lane& on) {
    int sum = here.rank();
    flag ended;
    spawn(sum_in_halves(async_lane(on), here.rank(), sum), ended);
    ASSERT_EQ(on.wait(ended), status::done);
    EXPECT_EQ(sum, here.rank() % 2 == 0 ? 6 : 9);
  });
}

TEST_P(Group, MovesWhileACollectiveIsInFlight) {
  on_all_ranks([](world& here, lane& on) {
    group first;
    ASSERT_EQ(split(on, here.rank() % 2, 0, first), status::done);
    flag ended;
    ASSERT_EQ(try_barrier(first, ended), status::posted);
    group second(std::move(first));
    EXPECT_EQ(on.wait(ended), status::done);
    EXPECT_EQ(barrier(second), status::done);
  });
}

TEST_P(Group, EveryCollectiveCountsByRanksOfTheGroup) {
  on_all_ranks([](world& here, lane& on) {
    group team;  // the other way round: member i is rank 5 - i
    ASSERT_EQ(split(on, 0, -here.rank(), team), status::done);
    const auto self = static_cast<std::size_t>(team.self());
    constexpr auto n = static_cast<std::size_t>(ranks);
    ASSERT_EQ(self, n - 1 - static_cast<std::size_t>(here.rank()));
    std::vector<int> mine{static_cast<int>(self)}, out(1, -1), all(n), expected(n);
    std::iota(expected.begin(), expected.end(), 0);

    EXPECT_EQ(scan(team, mine, std::span(out), reduce_op::max), status::done);
    EXPECT_EQ(out[0], mine[0]);
    EXPECT_EQ(exclusive_scan(team, mine, std::span(out), reduce_op::max), status::done);
    EXPECT_EQ(out[0], self == 0 ? mine[0] : mine[0] - 1);
    EXPECT_EQ(allgather(team, mine, std::span(all)), status::done);
    EXPECT_EQ(all, expected);
    EXPECT_EQ(scatter(team, all, std::span(out), 1), status::done);
    EXPECT_EQ(out[0], mine[0]);
    EXPECT_EQ(reduce_scatter(team, all, std::span(out), reduce_op::sum), status::done);
    EXPECT_EQ(out[0], ranks * mine[0]);

    const std::vector<std::size_t> counts{0, 1, 2, 0, 1, 2};
    const std::vector<int> part(counts[self], mine[0]), together{1, 2, 2, 4, 5, 5};
    std::vector<int> joined(together.size()), own(counts[self]);
    EXPECT_EQ(gatherv(team, part, std::span(joined), counts, 4), status::done);
    if (self == 4) {
      EXPECT_EQ(joined, together);
    }
    EXPECT_EQ(allgatherv(team, part, std::span(joined), counts), status::done);
    EXPECT_EQ(joined, together);
    EXPECT_EQ(scatterv(team, joined, counts, std::span(own), 0), status::done);
    EXPECT_EQ(own, part);
    const std::vector<std::size_t> same(n, counts[self]);
    std::vector<int> given(n * counts[self], mine[0]);
    EXPECT_EQ(alltoallv(team, given, same, std::span(joined), counts), status::done);
    EXPECT_EQ(joined, together);
  });
}

TEST_P(Group, OfSurvivorsHasCollectivesAfterALoss) {
  constexpr rank leaves = 1;
  const auto config = test::settings_for(GetParam());
  std::vector<std::thread> threads;
  for (auto& session : bootstrap::local_group(ranks)) {
    threads.emplace_back([&config, mine = std::move(session)]() mutable {
      world here(engine::make_world(std::move(mine), config));
      lane on(here);
      EXPECT_EQ(barrier(on), status::done);
      if (here.rank() == leaves) return;
      EXPECT_EQ(barrier(on), status::peer_lost);
      group alive;
      EXPECT_EQ(survivors(on, alive), status::done);
      EXPECT_EQ(alive.ranks(), ranks - 1);
      EXPECT_EQ(alive.member(leaves), -1);
      int sum = 1;
      EXPECT_EQ(allreduce(alive, std::span(&sum, 1), std::span(&sum, 1), reduce_op::sum),
                status::done);
      EXPECT_EQ(sum, ranks - 1);
      group again;
      EXPECT_EQ(survivors(alive, again), status::done);
      EXPECT_EQ(again.ranks(), ranks - 1);
      EXPECT_EQ(barrier(again), status::done);
    });
  }
  for (auto& each : threads) each.join();
}

INSTANTIATE_TEST_SUITE_P(On, Group, testing::Values("shm", "tcp"));

}  // namespace
}  // namespace heddle
