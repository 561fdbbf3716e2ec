// SPDX-License-Identifier: BSD-3-Clause
// group_algorithms_test.cpp - the collectives with counts, scans and scatters give the right bytes
// for every number of ranks; groups do not mix; survivors agree whoever dies when.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "collectives/alltoallv.h"
#include "collectives/barrier.h"
#include "collectives/broadcast.h"
#include "collectives/gatherv.h"
#include "collectives/reduce_scatter.h"
#include "collectives/scan.h"
#include "collectives/scatter.h"
#include "collectives/split.h"
#include "collectives/survivors.h"
#include "support/network_job.h"

namespace heddle::collectives {
namespace {

using test::buffers;
using test::item;
using test::job;
using test::on_lane;

/// Both sides of every threshold; no multiple of any number of ranks.
const std::size_t item_counts[] = {1, 3, 131, 2'049, 9'001};
const auto sum = detail::reducer_for<item>(reduce_op::sum);

template <class T>
bytes writable(std::vector<T>& of) {
  return std::as_writable_bytes(std::span(of));
}

/// Parameters: ranks, and how often a post is answered busy.
class GroupCollective : public testing::TestWithParam<std::tuple<int, unsigned>> {
 protected:
  [[nodiscard]] static int ranks() { return std::get<0>(GetParam()); }
  [[nodiscard]] static std::size_t count() { return static_cast<std::size_t>(ranks()); }
  [[nodiscard]] static test::fake_options options(std::uint64_t seed) {
    return {.ranks = ranks(), .seed = seed, .busy_percent = std::get<1>(GetParam())};
  }
  static void expect_clean(const job& all) {
    EXPECT_TRUE(all.all_done());
    EXPECT_EQ(all.network.left_over(), 0u);
  }
  /// Of every rank; some have none.
  [[nodiscard]] static std::vector<std::size_t> uneven(std::size_t items) {
    std::vector<std::size_t> counts(count());
    for (std::size_t r = 0; r < counts.size(); ++r)
      counts[r] = r % 3 == 1 ? 0 : items * (r + 1) / 2;
    return counts;
  }
  [[nodiscard]] static detail::part_counts parts(const std::vector<std::size_t>& counts) {
    return {counts, sizeof(item)};
  }
};

TEST_P(GroupCollective, ScanCombinesWhatTheRanksUpToThisOneHave) {
  for (const std::size_t items : item_counts) {
    job all(options(items));
    buffers in(ranks(), items, true), out(ranks(), items, false);
    all.run([&](on_lane on, rank r) {
      return scan(on, in.in(r), out.out(r), sum, scan_kind::inclusive);
    });
    expect_clean(all);
    std::vector<item> expected(items);
    for (rank r = 0; r < ranks(); ++r) {
      for (std::size_t i = 0; i < items; ++i) expected[i] += buffers::value(r, i);
      ASSERT_EQ(out.mine(r), expected) << "rank " << r;
    }
    ASSERT_EQ(in.of, buffers(ranks(), items, true).of);
  }
}

TEST_P(GroupCollective, ExclusiveScanLeavesOutTheOwnPartAndRankZerosOutput) {
  for (const std::size_t items : item_counts) {
    job all(options(items));
    buffers data(ranks(), items, true);  // in place
    all.run([&](on_lane on, rank r) {
      return scan(on, data.in(r), data.out(r), sum, scan_kind::exclusive);
    });
    expect_clean(all);
    ASSERT_EQ(data.mine(0), buffers(1, items, true).mine(0));
    std::vector<item> expected(items);
    for (rank r = 1; r < ranks(); ++r) {
      for (std::size_t i = 0; i < items; ++i) expected[i] += buffers::value(r - 1, i);
      ASSERT_EQ(data.mine(r), expected) << "rank " << r;
    }
  }
}

TEST_P(GroupCollective, ScatterGivesEveryoneItsBlockOfTheRoots) {
  for (const std::size_t items : item_counts) {
    for (rank root = 0; root < ranks(); ++root) {
      job all(options(items));
      buffers in(ranks(), items * count(), true), out(ranks(), items, false);
      all.run([&](on_lane on, rank r) {
        return scatter(on, r == root ? in.in(r) : const_bytes{}, out.out(r), root);
      });
      expect_clean(all);
      for (rank r = 0; r < ranks(); ++r) {
        for (std::size_t i = 0; i < items; ++i) {
          ASSERT_EQ(out.mine(r)[i], buffers::value(root, static_cast<std::size_t>(r) * items + i));
        }
      }
    }
  }
}

TEST_P(GroupCollective, ReduceScatterGivesEveryoneItsBlockOfTheSum) {
  for (const std::size_t items : item_counts) {
    job all(options(items));
    buffers in(ranks(), items * count(), true), out(ranks(), items, false);
    all.run([&](on_lane on, rank r) { return reduce_scatter(on, in.in(r), out.out(r), sum); });
    expect_clean(all);
    for (rank r = 0; r < ranks(); ++r) {
      for (std::size_t i = 0; i < items; ++i) {
        item expected = 0;
        for (rank from = 0; from < ranks(); ++from) {
          expected += buffers::value(from, static_cast<std::size_t>(r) * items + i);
        }
        ASSERT_EQ(out.mine(r)[i], expected);
      }
    }
    ASSERT_EQ(in.of, buffers(ranks(), items * count(), true).of);
  }
}

TEST_P(GroupCollective, GathervKeepsTheOrderOfRanksAndSkipsTheEmpty) {
  for (const std::size_t items : item_counts) {
    const auto counts = uneven(items);
    std::vector<item> expected;
    for (rank r = 0; r < ranks(); ++r) {
      for (std::size_t i = 0; i < counts[static_cast<std::size_t>(r)]; ++i)
        expected.push_back(buffers::value(r, i));
    }
    const auto part = [&](buffers& of, rank r) {
      return of.in(r).first(counts[static_cast<std::size_t>(r)] * sizeof(item));
    };
    for (rank root = 0; root < ranks(); ++root) {
      job all(options(items));
      buffers in(ranks(), items * count(), true);
      std::vector<item> out(expected.size());
      all.run([&](on_lane on, rank r) {
        return r == root ? gatherv(on, part(in, r), writable(out), parts(counts), root)
                         : gatherv(on, part(in, r), {}, {}, root);
      });
      expect_clean(all);
      ASSERT_EQ(out, expected);
    }
    job all(options(items));
    buffers in(ranks(), items * count(), true), out(ranks(), expected.size(), false);
    all.run(
        [&](on_lane on, rank r) { return allgatherv(on, part(in, r), out.out(r), parts(counts)); });
    expect_clean(all);
    for (rank r = 0; r < ranks(); ++r) ASSERT_EQ(out.mine(r), expected) << "rank " << r;
  }
}

TEST_P(GroupCollective, ScattervIsGathervTheOtherWayRound) {
  for (const std::size_t items : item_counts) {
    const auto counts = uneven(items);
    const auto total = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
    for (rank root = 0; root < ranks(); ++root) {
      job all(options(items));
      buffers in(1, total, true);
      buffers out(ranks(), 0, false);
      for (rank r = 0; r < ranks(); ++r) out.mine(r).resize(counts[static_cast<std::size_t>(r)]);
      all.run([&](on_lane on, rank r) {
        return r == root ? scatterv(on, in.in(0), parts(counts), out.out(r), root)
                         : scatterv(on, {}, {}, out.out(r), root);
      });
      expect_clean(all);
      std::vector<item> joined;
      for (rank r = 0; r < ranks(); ++r) {
        joined.insert(joined.end(), out.mine(r).begin(), out.mine(r).end());
      }
      ASSERT_EQ(joined, in.mine(0));
    }
  }
}

TEST_P(GroupCollective, AlltoallvMovesEveryPartToWhereItBelongs) {
  // From rank a to rank b go (a + 2 b) % 4 * items items, so some parts are empty.
  const auto size = [](rank a, rank b, std::size_t items) {
    return static_cast<std::size_t>((a + 2 * b) % 4) * items;
  };
  for (const std::size_t items : item_counts) {
    job all(options(items));
    std::vector<std::vector<std::size_t>> given(count()), taken(count());
    buffers in(ranks(), 0, false), out(ranks(), 0, false);
    for (rank r = 0; r < ranks(); ++r) {
      for (rank other = 0; other < ranks(); ++other) {
        const std::size_t n = size(r, other, items);
        given[static_cast<std::size_t>(r)].push_back(n);
        taken[static_cast<std::size_t>(r)].push_back(size(other, r, items));
        in.mine(r).insert(in.mine(r).end(), n, buffers::value(r, static_cast<std::size_t>(other)));
        out.mine(r).resize(out.mine(r).size() + size(other, r, items));
      }
    }
    all.run([&](on_lane on, rank r) {
      const auto i = static_cast<std::size_t>(r);
      return alltoallv(on, in.in(r), parts(given[i]), out.out(r), parts(taken[i]));
    });
    expect_clean(all);
    for (rank r = 0; r < ranks(); ++r) {
      std::vector<item> expected;
      for (rank from = 0; from < ranks(); ++from) {
        expected.insert(expected.end(), size(from, r, items),
                        buffers::value(from, static_cast<std::size_t>(r)));
      }
      ASSERT_EQ(out.mine(r), expected);
    }
  }
}

using made_groups = std::vector<std::unique_ptr<detail::membership>>;

TEST_P(GroupCollective, SplitOrdersMembersByKeyAndThenByRank) {
  job all(options(1));
  made_groups groups(count());
  all.run([&](on_lane on, rank r) {
    return split(on, r == 1 ? no_color : r % 2, -(r / 4), groups[static_cast<std::size_t>(r)]);
  });
  expect_clean(all);
  for (rank r = 0; r < ranks(); ++r) {
    const auto& mine = groups[static_cast<std::size_t>(r)];
    if (r == 1) {
      EXPECT_EQ(mine, nullptr);
      continue;
    }
    std::vector<rank> expected;
    for (int quarter = ranks() / 4; quarter >= 0; --quarter) {
      for (rank m = 4 * quarter; m < std::min(4 * quarter + 4, ranks()); ++m) {
        if (m != 1 && m % 2 == r % 2) expected.push_back(m);
      }
    }
    ASSERT_EQ(mine->ranks(), static_cast<int>(expected.size()));
    for (rank m = 0; m < mine->ranks(); ++m) {
      EXPECT_EQ(mine->world_rank(m), expected[static_cast<std::size_t>(m)]);
      EXPECT_EQ(mine->member(mine->world_rank(m)), m);
    }
    EXPECT_EQ(mine->world_rank(mine->self()), r);
    EXPECT_EQ(mine->world_rank(mine->ranks()), -1);
    EXPECT_EQ(mine->member(1), -1);
  }
}

/// Sums on three groups that share members, and on all ranks, all in flight at once.
TEST_P(GroupCollective, GroupsThatShareMembersDoNotMixInFlight) {
  constexpr std::size_t items = 100;
  job all(options(7));
  made_groups everyone(count()), halves(count()), reversed(count());
  all.run(
      [&](on_lane on, rank r) { return split(on, 0, 0, everyone[static_cast<std::size_t>(r)]); });
  all.run(
      [&](on_lane on, rank r) { return split(on, r % 2, 0, halves[static_cast<std::size_t>(r)]); });
  all.run(
      [&](on_lane on, rank r) { return split(on, 0, -r, reversed[static_cast<std::size_t>(r)]); });
  const made_groups* const sets[] = {&everyone, &halves, &reversed};
  std::vector<buffers> results(4, buffers(ranks(), items, true));
  std::vector<status> codes(3 * count(), status::posted);
  all.run([&](on_lane on, rank r) {
    for (std::size_t i = 0; i < 3; ++i) {
      const std::size_t set = (i + static_cast<std::size_t>(r)) % 3;  // each in its own order
      auto& result = results[set];
      const on_lane team(on.on(), (*sets[set])[static_cast<std::size_t>(r)].get());
      spawn(job::record(scan(team, result.in(r), result.out(r), sum, scan_kind::inclusive),
                        codes[3 * static_cast<std::size_t>(r) + i], all.running));
    }
    return scan(on, results[3].in(r), results[3].out(r), sum, scan_kind::inclusive);
  });
  expect_clean(all);
  EXPECT_EQ(std::ranges::count(codes, status::done), std::ssize(codes));
  for (rank r = 0; r < ranks(); ++r) {
    item up_to = 0, half = 0, down_to = 0;
    for (rank m = 0; m < ranks(); ++m) {
      if (m <= r) up_to += buffers::value(m, 5);
      if (m <= r && m % 2 == r % 2) half += buffers::value(m, 5);
      if (m >= r) down_to += buffers::value(m, 5);
    }
    EXPECT_EQ(results[0].mine(r)[5], up_to);
    EXPECT_EQ(results[1].mine(r)[5], half);
    EXPECT_EQ(results[2].mine(r)[5], down_to);
    EXPECT_EQ(results[3].mine(r)[5], up_to);
  }
}

TEST_P(GroupCollective, AGroupOfAGroupHasRanksOfTheWorld) {
  job all(options(3));
  made_groups halves(count()), quarters(count());
  all.run(
      [&](on_lane on, rank r) { return split(on, r % 2, 0, halves[static_cast<std::size_t>(r)]); });
  all.run([&](on_lane on, rank r) {
    const auto& half = halves[static_cast<std::size_t>(r)];
    return split(on_lane(on.on(), half.get()), half->self() % 2, 0,
                 quarters[static_cast<std::size_t>(r)]);
  });
  expect_clean(all);
  for (rank r = 0; r < ranks(); ++r) {
    const auto& quarter = *quarters[static_cast<std::size_t>(r)];
    EXPECT_EQ(quarter.world_rank(0), r % 4);
    EXPECT_EQ(quarter.world_rank(quarter.self()), r);
    EXPECT_EQ(quarter.ranks(), (ranks() - r % 4 + 3) / 4);
  }
}

TEST_P(GroupCollective, SurvivorsAreAllWhereNobodyIsLost) {
  job all(options(11));
  made_groups groups(count());
  all.run([&](on_lane on, rank r) { return survivors(on, groups[static_cast<std::size_t>(r)]); });
  expect_clean(all);
  for (rank r = 0; r < ranks(); ++r) {
    ASSERT_EQ(groups[static_cast<std::size_t>(r)]->ranks(), ranks());
    EXPECT_EQ(groups[static_cast<std::size_t>(r)]->self(), r);
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, GroupCollective,
                         testing::Combine(testing::Range(1, 10), testing::Values(0u, 30u)));

/// The members of each group, by rank; empty: that rank returned another status than done.
std::vector<std::vector<rank>> agreed(const test::fake_options& options, job& all) {
  made_groups groups(static_cast<std::size_t>(options.ranks));
  all.run([&](on_lane on, rank r) { return survivors(on, groups[static_cast<std::size_t>(r)]); });
  std::vector<std::vector<rank>> members(groups.size());
  for (std::size_t r = 0; r < groups.size(); ++r) {
    for (rank m = 0; groups[r] != nullptr && m < groups[r]->ranks(); ++m)
      members[r].push_back(groups[r]->world_rank(m));
  }
  return members;
}

TEST(Survivors, AgreeWhoeverOfThemDiesAtWhatStep) {
  constexpr int ranks = 5;
  std::set<std::size_t> sizes;
  for (rank victim = 0; victim < ranks; ++victim) {
    const rank second = (victim + 2) % ranks;
    for (int dies_at = 0; dies_at < 30; dies_at += 1) {
      for (const int second_dies_at : {0, 5, 11, 17, 23, 1000}) {
        for (std::uint64_t seed = 1; seed <= 4; ++seed) {
          const test::fake_options options{.ranks = ranks,
                                           .seed = seed,
                                           .busy_percent = 10,
                                           .victim = victim,
                                           .dies_at = dies_at,
                                           .second_victim = second,
                                           .second_dies_at = second_dies_at};
          job all(options);
          const auto members = agreed(options, all);
          const std::vector<rank>* first = nullptr;
          for (rank r = 0; r < ranks; ++r) {
            if (all.network.dead(r)) continue;
            const auto& mine = members[static_cast<std::size_t>(r)];
            ASSERT_EQ(all.codes[static_cast<std::size_t>(r)], status::done)
                << "rank " << r << " victim " << victim << " at " << dies_at << ", "
                << second_dies_at << " seed " << seed;
            if (first == nullptr) first = &mine;
            ASSERT_EQ(mine, *first) << "victim " << victim << " at " << dies_at << ", "
                                    << second_dies_at << " seed " << seed;
            ASSERT_TRUE(std::ranges::find(mine, r) != mine.end());
            sizes.insert(mine.size());
          }
        }
      }
    }
  }
  EXPECT_EQ(sizes, (std::set<std::size_t>{3, 4, 5}));
}

TEST(Survivors, HaveCollectivesAgain) {
  constexpr int ranks = 6;
  const test::fake_options options{.ranks = ranks, .seed = 3, .victim = 2};
  job all(options);
  made_groups groups(ranks);
  const auto begin = [&](on_lane on, rank r) -> task<status> {
    static_cast<void>(co_await collectives::barrier(on));
    auto& mine = groups[static_cast<std::size_t>(r)];
    const status agreed = co_await survivors(on, mine);
    if (agreed != status::done) co_return agreed;
    std::uint32_t word = mine->self() == 1 ? 42 : 0;
    const on_lane team(on.on(), mine.get());
    const status told = co_await broadcast(team, std::as_writable_bytes(std::span(&word, 1)), 1);
    if (told != status::done || word != 42) co_return status::invalid;
    co_return co_await collectives::barrier(team);
  };
  all.run(begin);
  for (rank r = 0; r < ranks; ++r) {
    EXPECT_EQ(all.codes[static_cast<std::size_t>(r)], r == 2 ? status::closed : status::done);
  }
}

}  // namespace
}  // namespace heddle::collectives
