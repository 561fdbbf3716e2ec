// SPDX-License-Identifier: BSD-3-Clause
// algorithms_test.cpp - the collective algorithms give the right bytes for every number of ranks,
// size, order of completions and thread that drives them.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include "collectives/allgather.h"
#include "collectives/allreduce.h"
#include "collectives/alltoall.h"
#include "collectives/barrier.h"
#include "collectives/broadcast.h"
#include "collectives/gather.h"
#include "collectives/reduce.h"
#include "support/network_job.h"

namespace heddle::collectives {
namespace {

using test::buffers;
using test::item;
using test::job;
using test::on_lane;
using test::start_function;

constexpr int most_ranks = 9;

/// Both sides of every threshold; no multiple of any number of ranks.
const std::size_t item_counts[] = {1, 3, 131, 2'049, 9'001};

/// Parameters: ranks, and how often a post is answered busy.
class Collective : public testing::TestWithParam<std::tuple<int, unsigned>> {
 protected:
  [[nodiscard]] static int ranks() { return std::get<0>(GetParam()); }
  [[nodiscard]] static test::fake_options options(std::uint64_t seed) {
    return {.ranks = ranks(), .seed = seed, .busy_percent = std::get<1>(GetParam())};
  }
  static void expect_clean(const job& all) {
    EXPECT_TRUE(all.all_done());
    EXPECT_EQ(all.network.left_over(), 0u);
  }
  [[nodiscard]] static std::vector<item> sums(std::size_t items) {
    std::vector<item> sum(items);
    for (rank r = 0; r < ranks(); ++r) {
      for (std::size_t i = 0; i < items; ++i) sum[i] += buffers::value(r, i);
    }
    return sum;
  }
  [[nodiscard]] static std::vector<item> concatenated(std::size_t items) {
    std::vector<item> all;
    for (rank r = 0; r < ranks(); ++r) {
      for (std::size_t i = 0; i < items; ++i) all.push_back(buffers::value(r, i));
    }
    return all;
  }
};

TEST_P(Collective, BarrierHoldsEveryoneUntilTheLastHasCome) {
  job all(options(1));
  const start_function begin = [](on_lane on, rank) { return barrier(on); };
  for (rank r = 0; r + 1 < ranks(); ++r) all.start(r, begin);
  all.network.deliver_all();
  for (rank r = 0; r + 1 < ranks(); ++r) {
    EXPECT_EQ(all.codes[static_cast<std::size_t>(r)], status::posted) << "rank " << r << " left";
  }
  all.start(ranks() - 1, begin);
  all.network.deliver_all();
  expect_clean(all);
}

TEST_P(Collective, BroadcastGivesEveryoneTheRootsData) {
  for (const std::size_t items : item_counts) {
    for (rank root = 0; root < ranks(); ++root) {
      job all(options(items));
      buffers data(ranks(), items, true);
      all.run([&](on_lane on, rank r) { return broadcast(on, data.out(r), root); });
      expect_clean(all);
      for (rank r = 0; r < ranks(); ++r) ASSERT_EQ(data.mine(r), data.mine(root));
      ASSERT_EQ(data.mine(0)[0], buffers::value(root, 0));
    }
  }
}

TEST_P(Collective, ReduceGivesTheRootTheSumAndLeavesInputsAlone) {
  for (const std::size_t items : item_counts) {
    for (rank root = 0; root < ranks(); ++root) {
      job all(options(items));
      buffers in(ranks(), items, true);
      std::vector<item> out(items);
      const auto sum = detail::reducer_for<item>(reduce_op::sum);
      all.run([&](on_lane on, rank r) {
        return reduce(on, in.in(r), r == root ? std::as_writable_bytes(std::span(out)) : bytes{},
                      sum, root);
      });
      expect_clean(all);
      ASSERT_EQ(out, sums(items));
      ASSERT_EQ(in.of, buffers(ranks(), items, true).of);
    }
  }
}

TEST_P(Collective, AllreduceGivesEveryoneTheSum) {
  for (const std::size_t items : item_counts) {
    job all(options(items));
    buffers in(ranks(), items, true);
    buffers out(ranks(), items, false);
    const auto sum = detail::reducer_for<item>(reduce_op::sum);
    all.run([&](on_lane on, rank r) { return allreduce(on, in.in(r), out.out(r), sum); });
    expect_clean(all);
    for (rank r = 0; r < ranks(); ++r) ASSERT_EQ(out.mine(r), sums(items)) << "rank " << r;
    ASSERT_EQ(in.of, buffers(ranks(), items, true).of);
  }
}

TEST_P(Collective, AllreduceWorksInPlace) {
  for (const std::size_t items : item_counts) {
    job all(options(items));
    buffers data(ranks(), items, true);
    const auto sum = detail::reducer_for<item>(reduce_op::sum);
    all.run([&](on_lane on, rank r) { return allreduce(on, data.in(r), data.out(r), sum); });
    expect_clean(all);
    for (rank r = 0; r < ranks(); ++r) ASSERT_EQ(data.mine(r), sums(items)) << "rank " << r;
  }
}

struct huge {
  std::array<std::byte, 40'000> unused{};
  std::uint64_t value = 0;
};

TEST_P(Collective, AllreduceTakesLongVectorsOfFewerItemsThanRanks) {
  job all(options(1));
  std::vector<huge> in(static_cast<std::size_t>(ranks())), out(in.size());
  const auto add = [](const huge& a, const huge& b) { return huge{{}, a.value + b.value}; };
  const auto sum = detail::reducer_for<huge>(add);
  all.run([&](on_lane on, rank r) {
    const auto i = static_cast<std::size_t>(r);
    in[i].value = i + 1;
    return allreduce(on, std::as_bytes(std::span(&in[i], 1)),
                     std::as_writable_bytes(std::span(&out[i], 1)), sum);
  });
  expect_clean(all);
  for (const huge& each : out) ASSERT_EQ(each.value, in.size() * (in.size() + 1) / 2);
}

// Which operand comes first decides the sign of a sum of two NaN, and the sign of the least zero.
TEST_P(Collective, AllreduceGivesEveryoneTheSameNaNsAndZeros) {
  constexpr float none = std::numeric_limits<float>::quiet_NaN();
  constexpr std::array specials{none, -0.0f, 0.0f, 1.0f, -none};
  for (const reduce_op op : {reduce_op::sum, reduce_op::prod, reduce_op::min, reduce_op::max}) {
    for (const std::size_t items : item_counts) {
      job all(options(items));
      std::vector<std::vector<float>> of(static_cast<std::size_t>(ranks()));
      const auto combine = detail::reducer_for<float>(op);
      all.run([&](on_lane on, rank r) {
        auto& mine = of[static_cast<std::size_t>(r)];
        for (std::size_t i = 0; i < items; ++i)
          mine.push_back(specials[(i * 7 + static_cast<std::size_t>(r)) % specials.size()]);
        return allreduce(on, std::as_bytes(std::span(mine)),
                         std::as_writable_bytes(std::span(mine)), combine);
      });
      expect_clean(all);
      for (const auto& each : of)
        ASSERT_EQ(std::memcmp(each.data(), of[0].data(), items * sizeof(float)), 0);
    }
  }
}

TEST_P(Collective, AllreduceGivesEveryoneTheSameBits) {
  for (const std::size_t items : item_counts) {
    job all(options(items));
    std::vector<std::vector<float>> data(static_cast<std::size_t>(ranks()));
    const auto sum = detail::reducer_for<float>(reduce_op::sum);
    all.run([&](on_lane on, rank r) {
      auto& mine = data[static_cast<std::size_t>(r)];
      for (std::size_t i = 0; i < items; ++i) mine.push_back(1.0f / static_cast<float>(r + 3));
      return allreduce(on, std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(mine)),
                       sum);
    });
    expect_clean(all);
    for (const auto& each : data) ASSERT_EQ(each, data[0]);
  }
}

TEST_P(Collective, GatherGivesTheRootAllBlocksInOrder) {
  for (const std::size_t items : item_counts) {
    for (rank root = 0; root < ranks(); ++root) {
      job all(options(items));
      buffers in(ranks(), items, true);
      std::vector<item> out(items * static_cast<std::size_t>(ranks()));
      all.run([&](on_lane on, rank r) {
        return gather(on, in.in(r), r == root ? std::as_writable_bytes(std::span(out)) : bytes{},
                      root);
      });
      expect_clean(all);
      ASSERT_EQ(out, concatenated(items)) << "root " << root;
    }
  }
}

TEST_P(Collective, AllgatherGivesEveryoneAllBlocksInOrder) {
  for (const std::size_t items : item_counts) {
    job all(options(items));
    buffers in(ranks(), items, true);
    buffers out(ranks(), items * static_cast<std::size_t>(ranks()), false);
    all.run([&](on_lane on, rank r) { return allgather(on, in.in(r), out.out(r)); });
    expect_clean(all);
    for (rank r = 0; r < ranks(); ++r) ASSERT_EQ(out.mine(r), concatenated(items));
  }
}

TEST_P(Collective, AlltoallTransposesTheBlocks) {
  for (const std::size_t items : item_counts) {
    job all(options(items));
    buffers in(ranks(), items * static_cast<std::size_t>(ranks()), true);
    buffers out(ranks(), items * static_cast<std::size_t>(ranks()), false);
    all.run([&](on_lane on, rank r) { return alltoall(on, in.in(r), out.out(r)); });
    expect_clean(all);
    for (rank r = 0; r < ranks(); ++r) {
      for (rank from = 0; from < ranks(); ++from) {
        for (std::size_t i = 0; i < items; ++i) {
          ASSERT_EQ(out.mine(r)[static_cast<std::size_t>(from) * items + i],
                    buffers::value(from, static_cast<std::size_t>(r) * items + i));
        }
      }
    }
  }
}

TEST_P(Collective, SeveralInFlightOnOneLaneDoNotMix) {
  job all(options(5));
  constexpr std::size_t items = 100;
  buffers first(ranks(), items, true);
  buffers second(ranks(), items, true);
  const auto sum = detail::reducer_for<item>(reduce_op::sum);
  const auto most = detail::reducer_for<item>(reduce_op::max);
  std::vector<status> ended(static_cast<std::size_t>(ranks()), status::posted);
  all.run([&](on_lane on, rank r) {
    auto& code = ended[static_cast<std::size_t>(r)];
    spawn(job::record(allreduce(on, first.in(r), first.out(r), sum), code, all.running));
    return allreduce(on, second.in(r), second.out(r), most);
  });
  expect_clean(all);
  for (rank r = 0; r < ranks(); ++r) {
    EXPECT_EQ(ended[static_cast<std::size_t>(r)], status::done);
    ASSERT_EQ(first.mine(r), sums(items));
    ASSERT_EQ(second.mine(r)[7], buffers::value(ranks() - 1, 7));
  }
}

TEST_P(Collective, OfNoDataSendsNothing) {
  job all(options(1));
  const auto sum = detail::reducer_for<item>(reduce_op::sum);
  all.run([&](on_lane on, rank) { return broadcast(on, {}, 0); });
  all.run([&](on_lane on, rank) { return reduce(on, {}, {}, sum, 0); });
  all.run([&](on_lane on, rank) { return allreduce(on, {}, {}, sum); });
  all.run([&](on_lane on, rank) { return gather(on, {}, {}, 0); });
  all.run([&](on_lane on, rank) { return allgather(on, {}, {}); });
  all.run([&](on_lane on, rank) { return alltoall(on, {}, {}); });
  expect_clean(all);
  EXPECT_EQ(all.network.messages(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Ranks, Collective,
                         testing::Combine(testing::Range(1, most_ranks + 1),
                                          testing::Values(0u, 30u)));

TEST(CollectiveOnThreads, GivesTheSameWhicheverThreadDrives) {
  constexpr int ranks = 7;
  constexpr std::size_t items = 3'001;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    job all({.ranks = ranks, .seed = seed, .busy_percent = 10});
    buffers in(ranks, items, true);
    buffers out(ranks, items * ranks, false);
    all.running = 2 * ranks;
    std::vector<std::thread> drivers;
    for (int i = 0; i < 3; ++i) {
      drivers.emplace_back([&] {
        while (all.running.load(std::memory_order_acquire) > 0) {
          if (!all.network.deliver_one()) std::this_thread::yield();
        }
      });
    }
    std::vector<status> ended(ranks, status::posted);
    for (rank r = 0; r < ranks; ++r) {
      const on_lane on(&all.network.lane(r));
      spawn(job::record(gather(on, in.in(r), out.out(r), 0), ended[static_cast<std::size_t>(r)],
                        all.running));
      all.start(r, [&](on_lane lane, rank) { return barrier(lane); });
    }
    for (auto& each : drivers) each.join();
    EXPECT_TRUE(all.all_done());
    for (rank r = 0; r < ranks; ++r) {
      EXPECT_EQ(ended[static_cast<std::size_t>(r)], status::done);
      EXPECT_EQ(out.mine(0)[static_cast<std::size_t>(r) * items + 5], buffers::value(r, 5));
    }
  }
}

}  // namespace
}  // namespace heddle::collectives
