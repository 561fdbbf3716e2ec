// SPDX-License-Identifier: BSD-3-Clause
// collectives_test.cpp - the public collectives on real lanes, ranks as threads of one process.
#include <gtest/gtest.h>
#include <heddle/heddle.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "base/settings.h"
#include "bootstrap/bootstrap.h"
#include "engine/world_core.h"

namespace heddle {
namespace {

/// Parameters: ranks, and the backends they may use.
class Collectives : public testing::TestWithParam<std::tuple<int, std::string>> {
 protected:
  [[nodiscard]] static int ranks() { return std::get<0>(GetParam()); }

  /// Runs `body` once per rank, each in a thread with a world of its own.
  static void on_all_ranks(const std::function<void(world&, lane&)>& body) {
    settings config;
    config.backends = std::get<1>(GetParam());
    std::vector<std::thread> threads;
    for (auto& session : bootstrap::local_group(ranks())) {
      threads.emplace_back([&body, config, mine = std::move(session)]() mutable {
        world here(engine::make_world(std::move(mine), config));
        lane on(here);
        body(here, on);
        here.barrier();
      });
    }
    for (auto& each : threads) each.join();
  }
  [[nodiscard]] static std::size_t count() { return static_cast<std::size_t>(ranks()); }
};

constexpr std::size_t small = 5;
constexpr std::size_t large = 20'011;

std::vector<int> numbers(rank of, std::size_t items) {
  std::vector<int> all(items);
  std::iota(all.begin(), all.end(), 1000 * of);
  return all;
}

std::vector<int> sums(int ranks, std::size_t items) {
  std::vector<int> sum(items);
  for (rank r = 0; r < ranks; ++r) {
    std::ranges::transform(sum, numbers(r, items), sum.begin(), std::plus<>());
  }
  return sum;
}

TEST_P(Collectives, BarrierReturnsOnEveryRankManyTimes) {
  on_all_ranks([](world&, lane& on) {
    for (int i = 0; i < 50; ++i) ASSERT_EQ(barrier(on), status::done);
  });
}

TEST_P(Collectives, BarrierPublishesWhatWasPutBeforeIt) {
  on_all_ranks([](world& here, lane& on) {
    auto table = here.symmetric<std::uint64_t>(count());
    const auto self = static_cast<std::uint64_t>(here.rank());
    for (rank r = 0; r < ranks(); ++r) {
      ASSERT_EQ(on.put(self + 1, table.at(r, self)), status::done);
    }
    ASSERT_EQ(barrier(on), status::done);
    for (std::size_t i = 0; i < count(); ++i) EXPECT_EQ(table.local()[i], i + 1);
    ASSERT_EQ(barrier(on), status::done);
  });
}

TEST_P(Collectives, BroadcastReachesEveryone) {
  for (const std::size_t items : {small, large}) {
    on_all_ranks([items](world& here, lane& on) {
      for (rank root = 0; root < ranks(); ++root) {
        auto data = numbers(here.rank(), items);
        ASSERT_EQ(broadcast(on, std::span(data), root), status::done);
        EXPECT_EQ(data, numbers(root, items));
      }
    });
  }
}

TEST_P(Collectives, ReductionsGiveTheSum) {
  for (const std::size_t items : {small, large}) {
    const auto expected = sums(ranks(), items);
    on_all_ranks([items, &expected](world& here, lane& on) {
      const auto in = numbers(here.rank(), items);
      std::vector<int> everywhere(items);
      ASSERT_EQ(allreduce(on, in, std::span(everywhere), reduce_op::sum), status::done);
      EXPECT_EQ(everywhere, expected);
      const rank root = ranks() - 1;
      std::vector<int> there(here.rank() == root ? items : 0);
      ASSERT_EQ(reduce(on, in, std::span(there), reduce_op::sum, root), status::done);
      if (here.rank() == root) {
        EXPECT_EQ(there, expected);
      }
    });
  }
}

TEST_P(Collectives, ReductionsTakeAnOperationOfTheUsers) {
  struct best {
    double value;
    rank owner;
  };
  on_all_ranks([](world& here, lane& on) {
    best found{here.rank() == ranks() / 2 ? 7.5 : 1.0, here.rank()};
    const auto better = [](const best& a, const best& b) {
      return a.value != b.value ? (a.value > b.value ? a : b) : (a.owner < b.owner ? a : b);
    };
    ASSERT_EQ(allreduce(on, std::span(&found, 1), std::span(&found, 1), better), status::done);
    EXPECT_EQ(found.owner, ranks() / 2);
  });
}

TEST_P(Collectives, GathersKeepTheOrderOfRanks) {
  for (const std::size_t items : {small, large}) {
    on_all_ranks([items](world& here, lane& on) {
      const auto in = numbers(here.rank(), items);
      std::vector<int> everywhere(items * count());
      ASSERT_EQ(allgather(on, in, std::span(everywhere)), status::done);
      std::vector<int> there(here.rank() == 0 ? everywhere.size() : 0);
      ASSERT_EQ(gather(on, in, std::span(there), 0), status::done);
      for (rank r = 0; r < ranks(); ++r) {
        const auto block =
            std::span(everywhere).subspan(static_cast<std::size_t>(r) * items, items);
        EXPECT_TRUE(std::ranges::equal(block, numbers(r, items)));
      }
      if (here.rank() == 0) {
        EXPECT_EQ(there, everywhere);
      }
    });
  }
}

TEST_P(Collectives, AlltoallTransposes) {
  for (const std::size_t items : {small, large}) {
    on_all_ranks([items](world& here, lane& on) {
      std::vector<int> in;
      for (rank to = 0; to < ranks(); ++to) in.insert(in.end(), items, here.rank() * 100 + to);
      std::vector<int> out(in.size());
      ASSERT_EQ(alltoall(on, in, std::span(out)), status::done);
      for (std::size_t i = 0; i < out.size(); ++i) {
        ASSERT_EQ(out[i], static_cast<int>(i / items) * 100 + here.rank());
      }
    });
  }
}

TEST_P(Collectives, NonBlockingOnesOverlapOnOneLane) {
  on_all_ranks([](world& here, lane& on) {
    std::vector<long> sum{here.rank() + 1L};
    std::vector<long> most{here.rank() + 1L};
    counter ended;
    ASSERT_EQ(try_allreduce(on, sum, std::span(sum), reduce_op::sum, ended), status::posted);
    ASSERT_EQ(try_barrier(on, ended), status::posted);
    ASSERT_EQ(try_allreduce(on, most, std::span(most), reduce_op::max, ended), status::posted);
    ASSERT_EQ(on.wait(ended, 3), status::done);
    EXPECT_EQ(sum[0], ranks() * (ranks() + 1L) / 2);
    EXPECT_EQ(most[0], ranks());
  });
}

TEST_P(Collectives, OnTwoLanesAreIndependent) {
  on_all_ranks([](world& here, lane& first) {
    lane second(here);
    flag on_second;
    ASSERT_EQ(try_barrier(second, on_second), status::posted);
    ASSERT_EQ(barrier(first), status::done);
    ASSERT_EQ(second.wait(on_second), status::done);
  });
}

task<status> count_up_together(async_lane on, long& value, int times) {
  for (int i = 0; i < times; ++i) {
    const auto ended = co_await allreduce(on, std::span<const long>(&value, 1),
                                          std::span(&value, 1), reduce_op::max);
    if (ended != status::done) co_return ended;
    ++value;
  }
  co_return status::done;
}

TEST_P(Collectives, CanBeAwaited) {
  on_all_ranks([](world& here, lane& on) {
    long value = here.rank();
    flag ended;
    spawn(count_up_together(async_lane(on), value, 20), ended);
    ASSERT_EQ(on.wait(ended), status::done);
    EXPECT_EQ(value, ranks() - 1 + 20);
  });
}

TEST_P(Collectives, DoNotMatchTheProgramsWildcardReceives) {
  on_all_ranks([](world& here, lane& on) {
    std::byte received{};
    flag got;
    ASSERT_EQ(on.try_recv(any_source, any_tag, {&received, 1}, got), status::posted);
    for (int i = 0; i < 5; ++i) ASSERT_EQ(barrier(on), status::done);
    const std::byte sent{42};
    ASSERT_EQ(on.send((here.rank() + 1) % ranks(), 7, {&sent, 1}), status::done);
    ASSERT_EQ(on.wait(got), status::done);
    EXPECT_EQ(got.result().tag, 7u);
    EXPECT_EQ(received, sent);
  });
}

// Neither by a tag that a collective may be using, nor by a mask that hides its top bit.
TEST_P(Collectives, AreNotReachedByAnyTagOfTheProgram) {
  on_all_ranks([](world& w, lane& on) {
    const rank other = (w.rank() + 1) % w.size();
    std::byte data{1};
    outcome found;
    for (const tag low : {tag{0}, tag{1}, tag{1} << 16, max_tag}) {
      const tag reserved = reserved_tag_bit | low;
      EXPECT_EQ(on.try_send(other, reserved, {&data, 1}), status::invalid);
      EXPECT_EQ(on.send(other, reserved, {&data, 1}), status::invalid);
      for (const tag_match t : {tag_match(reserved), tag_match(reserved, max_tag)}) {
        EXPECT_EQ(on.try_recv(any_source, t, {&data, 1}), status::invalid);
        EXPECT_EQ(on.recv(other, t, {&data, 1}).code, status::invalid);
        EXPECT_EQ(on.try_probe(any_source, t, found), status::invalid);
      }
    }
    const auto in = numbers(w.rank(), small);
    std::vector<int> sum(small);
    ASSERT_EQ(allreduce(on, in, std::span(sum), reduce_op::sum), status::done);
    EXPECT_EQ(sum, sums(ranks(), small));
    EXPECT_EQ(barrier(on), status::done);
  });
}

TEST_P(Collectives, RefuseWhatCannotBeRight) {
  on_all_ranks([](world&, lane& on) {
    std::vector<double> in(2), out(3);
    EXPECT_EQ(broadcast(on, std::span(in), ranks()), status::invalid);
    EXPECT_EQ(allreduce(on, in, std::span(out), reduce_op::sum), status::invalid);
    EXPECT_EQ(allreduce(on, in, std::span(in), reduce_op::bit_xor), status::invalid);
    flag ended;
    EXPECT_EQ(try_alltoall(on, in, std::span(out), ended), status::posted);
    EXPECT_EQ(on.wait(ended), status::invalid);
  });
}

INSTANTIATE_TEST_SUITE_P(OnShm, Collectives,
                         testing::Combine(testing::Range(1, 10), testing::Values("shm")));
INSTANTIATE_TEST_SUITE_P(OnTcp, Collectives,
                         testing::Combine(testing::Values(2, 3, 5), testing::Values("tcp")));

}  // namespace
}  // namespace heddle
