// SPDX-License-Identifier: BSD-3-Clause
// failure_test.cpp - a rank that dies at any step of any collective leaves nobody waiting, and
// arguments that cannot be right are refused.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "collectives/allgather.h"
#include "collectives/allreduce.h"
#include "collectives/alltoall.h"
#include "collectives/alltoallv.h"
#include "collectives/barrier.h"
#include "collectives/broadcast.h"
#include "collectives/fake_network.h"
#include "collectives/gather.h"
#include "collectives/gatherv.h"
#include "collectives/reduce.h"
#include "collectives/reduce_scatter.h"
#include "collectives/scan.h"
#include "collectives/scatter.h"

namespace heddle::collectives {
namespace {

using test::fake_lane;
using test::fake_network;
using on_lane = basic_async_group<fake_lane>;

struct room {
  std::vector<std::byte> in, out, more;  ///< the last as long as `out`
};

/// A collective with the buffers it wants.
struct candidate {
  std::string name;
  std::size_t in_bytes;   ///< per rank
  std::size_t out_bytes;  ///< times ranks when `whole`
  bool whole;
  bool everyone;  ///< every rank needs something from every other
  std::function<task<status>(on_lane, room&)> begin;
};

const auto sum = detail::reducer_for<std::uint32_t>(reduce_op::sum);

/// The same count for each of six ranks.
std::span<const std::size_t> six(std::size_t size) {
  static std::map<std::size_t, std::array<std::size_t, 6>> known;
  auto& counts = known[size];
  counts.fill(size);
  return counts;
}

std::vector<candidate> candidates() {
  std::vector<candidate> all;
  all.push_back({"Barrier", 0, 0, false, true, [](on_lane on, room&) { return barrier(on); }});
  for (const std::size_t size : {std::size_t{64}, std::size_t{64 * 1024}}) {
    const std::string kind = size == 64 ? "Small" : "Large";
    all.push_back({"Broadcast" + kind, 0, size, false, false,
                   [](on_lane on, room& r) { return broadcast(on, r.out, 0); }});
    all.push_back({"Reduce" + kind, size, size, false, false,
                   [](on_lane on, room& r) { return reduce(on, r.in, r.out, sum, 0); }});
    all.push_back({"Allreduce" + kind, size, size, false, true,
                   [](on_lane on, room& r) { return allreduce(on, r.in, r.out, sum); }});
    all.push_back({"Gather" + kind, size, size, true, false,
                   [](on_lane on, room& r) { return gather(on, r.in, r.out, 0); }});
    all.push_back({"Allgather" + kind, size, size, true, true,
                   [](on_lane on, room& r) { return allgather(on, r.in, r.out); }});
    all.push_back({"Scan" + kind, size, size, false, false, [](on_lane on, room& r) {
                     return scan(on, r.in, r.out, sum, scan_kind::inclusive);
                   }});
    all.push_back({"Scatter" + kind, 6 * size, size, false, false,
                   [](on_lane on, room& r) { return scatter(on, r.in, r.out, 0); }});
    all.push_back({"ReduceScatter" + kind, 6 * size, size, false, true,
                   [](on_lane on, room& r) { return reduce_scatter(on, r.in, r.out, sum); }});
    all.push_back({"Allgatherv" + kind, size, size, true, true, [](on_lane on, room& r) {
                     return allgatherv(on, r.in, r.out, {.items = six(r.in.size())});
                   }});
    all.push_back({"Alltoallv" + kind, size, size, true, true, [](on_lane on, room& r) {
                     return alltoallv(on, r.out, {.items = six(r.in.size())}, r.more,
                                      {.items = six(r.in.size())});
                   }});
  }
  for (const std::size_t block : {std::size_t{8}, std::size_t{4096}}) {
    all.push_back({block == 8 ? "AlltoallSmall" : "AlltoallLarge", block * 6, block * 6, false,
                   true, [](on_lane on, room& r) { return alltoall(on, r.in, r.out); }});
  }
  return all;
}

void PrintTo(const candidate& each, std::ostream* out) {
  *out << each.name;
}

class Death : public testing::TestWithParam<candidate> {
 protected:
  static constexpr int ranks = 6;
  /// What each rank returned; `posted`: it is still waiting.
  std::vector<status> run(const test::fake_options& options) {
    network_ = std::make_unique<fake_network>(options);
    std::vector<status> codes(ranks, status::posted);
    for (rank r = 0; r < ranks; ++r) {
      auto& mine = rooms_[static_cast<std::size_t>(r)];
      mine.in.resize(GetParam().in_bytes);
      mine.out.resize(GetParam().out_bytes * (GetParam().whole ? ranks : 1));
      mine.more.resize(mine.out.size());
      spawn(record(GetParam().begin(on_lane(&network_->lane(r)), mine),
                   codes[static_cast<std::size_t>(r)]));
    }
    network_->deliver_all();
    return codes;
  }
  static task<> record(task<status> work, status& code) { code = co_await std::move(work); }
  std::unique_ptr<fake_network> network_;

 private:
  /// Kept from run to run: to allocate and clear them anew was half of these tests' time.
  std::array<room, ranks> rooms_;
};

TEST_P(Death, AtAnyStepOfAnyRankLeavesNobodyWaiting) {
  for (rank victim = 0; victim < ranks; ++victim) {
    for (int dies_at = 0; dies_at < 12; ++dies_at) {
      for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        const auto codes = run({.ranks = ranks,
                                .seed = seed,
                                .busy_percent = 10,
                                .victim = victim,
                                .dies_at = dies_at});
        for (rank r = 0; r < ranks; ++r) {
          const status code = codes[static_cast<std::size_t>(r)];
          ASSERT_NE(code, status::posted) << "rank " << r << " waits for ever";
          if (r == victim) continue;
          ASSERT_TRUE(code == status::done || code == status::peer_lost) << name_of(code);
        }
      }
    }
  }
}

TEST_P(Death, BeforeTheFirstStepIsNoticedByAllWhoNeedTheVictim) {
  for (rank victim = 1; victim < ranks; ++victim) {
    const auto codes = run({.ranks = ranks, .eager_bytes = 0, .victim = victim});
    if (GetParam().everyone) {
      for (rank r = 0; r < ranks; ++r) {
        const status expected = r == victim ? status::closed : status::peer_lost;
        EXPECT_EQ(codes[static_cast<std::size_t>(r)], expected) << "rank " << r;
      }
    } else {
      EXPECT_EQ(std::ranges::count(codes, status::posted), 0);
      EXPECT_GE(std::ranges::count(codes, status::peer_lost), 1);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Death, testing::ValuesIn(candidates()),
                         [](const auto& instance) { return instance.param.name; });

TEST(Failure, TravelsDownABroadcastAndSparesTheRest) {
  fake_network network({.ranks = 8, .eager_bytes = 0, .victim = 4});
  std::vector<std::byte> data(100);
  std::vector<status> codes(8, status::posted);
  const auto record = [](task<status> work, status& code) -> task<> {
    code = co_await std::move(work);
  };
  for (rank r = 0; r < 8; ++r) {
    spawn(
        record(broadcast(on_lane(&network.lane(r)), data, 0), codes[static_cast<std::size_t>(r)]));
  }
  network.deliver_all();
  const std::vector expected{status::peer_lost, status::done,     status::done,
                             status::done,      status::closed,   status::peer_lost,
                             status::peer_lost, status::peer_lost};
  EXPECT_EQ(codes, expected);
}

status run_alone(task<status> work) {
  status code = status::posted;
  callback end([&](const outcome& what) { code = what.code; });
  spawn(std::move(work), end);
  return code;
}

TEST(Arguments, ThatCannotBeRightAreRefusedWithoutAMessage) {
  fake_network network({.ranks = 3});
  const on_lane on(&network.lane(0));
  std::array<std::byte, 24> memory{};
  const bytes eight(memory.data(), 8);
  const bytes ten(memory.data(), 10);
  EXPECT_EQ(run_alone(broadcast(on, eight, 3)), status::invalid);
  EXPECT_EQ(run_alone(broadcast(on, eight, -1)), status::invalid);
  EXPECT_EQ(run_alone(reduce(on, eight, {}, sum, 0)), status::invalid);
  EXPECT_EQ(run_alone(reduce(on, ten, ten, sum, 0)), status::invalid);
  EXPECT_EQ(run_alone(reduce(on, eight, eight, sum, 3)), status::invalid);
  EXPECT_EQ(run_alone(allreduce(on, eight, ten, sum)), status::invalid);
  EXPECT_EQ(run_alone(allreduce(on, eight, eight, {.item_bytes = 4})), status::invalid);
  EXPECT_EQ(run_alone(gather(on, eight, ten, 0)), status::invalid);
  EXPECT_EQ(run_alone(allgather(on, eight, eight)), status::invalid);
  EXPECT_EQ(run_alone(alltoall(on, eight, eight)), status::invalid);
  EXPECT_EQ(run_alone(scan(on, eight, ten, sum, scan_kind::inclusive)), status::invalid);
  EXPECT_EQ(run_alone(scatter(on, ten, eight, 0)), status::invalid);
  EXPECT_EQ(run_alone(scatter(on, memory, eight, 3)), status::invalid);
  EXPECT_EQ(run_alone(reduce_scatter(on, ten, eight, sum)), status::invalid);
  const std::size_t counts[] = {1, 0, 7};
  const std::size_t others[] = {3, 0, 5};
  const detail::part_counts good{counts, 1}, two{std::span(counts).first(2), 1};
  EXPECT_EQ(run_alone(gatherv(on, eight.first(1), ten, good, 0)), status::invalid);
  EXPECT_EQ(run_alone(gatherv(on, eight, eight, good, 0)), status::invalid);
  EXPECT_EQ(run_alone(gatherv(on, {}, {}, good, -1)), status::invalid);
  EXPECT_EQ(run_alone(scatterv(on, eight, two, eight.first(1), 0)), status::invalid);
  EXPECT_EQ(run_alone(allgatherv(on, eight.first(1), eight.first(1), two)), status::invalid);
  EXPECT_EQ(run_alone(alltoallv(on, eight, good, ten.first(8), {others, 1})), status::invalid);
  EXPECT_EQ(network.messages(), 0u);
}

TEST(Sizes, ThatDifferAmongRanksAreReported) {
  EXPECT_EQ(judge({.code = status::truncated, .bytes = 4}, 4), status::truncated);
  EXPECT_EQ(judge({.code = status::done, .bytes = 3}, 4), status::invalid);
  EXPECT_EQ(judge({.code = status::done, .bytes = 0}, 4), status::peer_lost);
  EXPECT_EQ(judge({.code = status::done, .bytes = 4}, 4), status::done);
}

}  // namespace
}  // namespace heddle::collectives
