// SPDX-License-Identifier: BSD-3-Clause
// diagnose_test.cpp - small worlds, where little can be told apart, and what is said about it.
#include "linktest/diagnose/diagnose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "linktest/diagnose/robust.h"

namespace heddle::linktest {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// A full matrix in which `factor(from, to)` says how slow a way is; two-way times are the mean of
/// both ways. A little noise that is the same every time.
struct small_world {
  int nodes;
  bool one_way;
  std::function<double(int, int)> factor;
  int retests = 0;

  [[nodiscard]] float seconds(int from, int to, int attempt) const {
    const double ways = one_way ? factor(from, to) : (factor(from, to) + factor(to, from)) / 2;
    return static_cast<float>(1e-6 * ways * (1 + 0.002 * ((from * 7 + to * 3 + attempt) % 5)));
  }
  diagnosis run(bool with_retests = true) {
    std::vector<observation> seen;
    for (int a = 0; a < nodes; ++a)
      for (int b = 0; b < nodes; ++b)
        if (a != b) seen.push_back({a, b, a + b, seconds(a, b, 0), 0, -1, 0, false});
    surroundings where;
    where.nodes = nodes;
    where.one_way = one_way;
    prober again;
    if (with_retests)
      again = [this](std::span<const probe> wanted) {
        std::vector<float> out;
        for (const probe& p : wanted) out.push_back(seconds(p.from, p.to, ++retests));
        return out;
      };
    return diagnose(seen, where, again);
  }
};

TEST(Diagnose, FindsNothingWhereAllAreAlikeAndSaysWhatItLookedAt) {
  for (const int nodes : {2, 3, 4, 16}) {
    for (const bool one_way : {false, true}) {
      const diagnosis d = small_world{nodes, one_way, [](int, int) { return 1.0; }}.run();
      EXPECT_THAT(d.verdicts, IsEmpty()) << in_words(d, {});
      EXPECT_EQ(d.seen.pairs, d.seen.possible_pairs);
      EXPECT_THAT(in_words(d, {}), HasSubstr("Nothing found"));
    }
  }
}

TEST(Diagnose, NamesASlowNodeAmongThreeAndMore) {
  for (const int nodes : {3, 4, 5, 8}) {
    for (const bool one_way : {false, true}) {
      const auto slow = [](int a, int b) { return a == 1 || b == 1 ? 3.0 : 1.0; };
      const diagnosis d = small_world{nodes, one_way, slow}.run();
      ASSERT_THAT(d.verdicts, SizeIs(1)) << nodes << in_words(d, {});
      EXPECT_EQ(d.verdicts[0].what, culprit::node) << nodes;
      EXPECT_EQ(d.verdicts[0].node, 1) << nodes;
      EXPECT_NEAR(d.verdicts[0].factor, 3, 0.1);
      EXPECT_TRUE(d.verdicts[0].retested);
    }
  }
}

TEST(Diagnose, TellsASlowSenderFromASlowReceiverInOneWayTraffic) {
  for (const int nodes : {3, 4, 8}) {
    const auto sends = [](int a, int) { return a == 2 ? 3.0 : 1.0; };
    const diagnosis tx = small_world{nodes, true, sends}.run();
    ASSERT_THAT(tx.verdicts, SizeIs(1)) << nodes << in_words(tx, {});
    EXPECT_EQ(tx.verdicts[0].what, culprit::node_tx);
    const auto receives = [](int, int b) { return b == 2 ? 3.0 : 1.0; };
    const diagnosis rx = small_world{nodes, true, receives}.run();
    ASSERT_THAT(rx.verdicts, SizeIs(1)) << nodes << in_words(rx, {});
    EXPECT_EQ(rx.verdicts[0].what, culprit::node_rx);
  }
}

TEST(Diagnose, SaysThatTwoWayTrafficDoesNotTellSendingFromReceiving) {
  const auto sends = [](int a, int) { return a == 2 ? 3.0 : 1.0; };
  const diagnosis d = small_world{6, false, sends}.run();
  ASSERT_THAT(d.verdicts, SizeIs(1));
  EXPECT_EQ(d.verdicts[0].what, culprit::node);
  ASSERT_THAT(d.verdicts[0].or_else, SizeIs(1));
  EXPECT_THAT(d.verdicts[0].or_else[0], HasSubstr("--kernel uni"));
}

TEST(Diagnose, NamesASlowLinkWhoseEndsAreAsUsualWithOthers) {
  for (const int nodes : {3, 4, 8}) {
    const auto link = [](int a, int b) { return a == 0 && b == 1 ? 4.0 : 1.0; };
    const diagnosis d = small_world{nodes, true, link}.run();
    ASSERT_THAT(d.verdicts, SizeIs(1)) << nodes << in_words(d, {});
    EXPECT_EQ(d.verdicts[0].what, culprit::link);
    EXPECT_EQ(d.verdicts[0].node, 0);
    EXPECT_EQ(d.verdicts[0].peer, 1);
  }
}

TEST(Diagnose, SaysThatTwoRanksCannotTellALinkFromItsEnds) {
  const auto link = [](int a, int) { return a == 0 ? 4.0 : 1.0; };
  const diagnosis d = small_world{2, true, link}.run();
  ASSERT_THAT(d.verdicts, SizeIs(1)) << in_words(d, {});
  EXPECT_EQ(d.verdicts[0].what, culprit::link);
  EXPECT_THAT(d.verdicts[0].or_else, SizeIs(2));
  const diagnosis both = small_world{2, false, link}.run();
  EXPECT_THAT(both.verdicts, IsEmpty()) << "two-way traffic of two has nothing to compare with";
}

TEST(Diagnose, BelievesTheFirstMeasurementWhereNothingCanBeMeasuredAgain) {
  const auto slow = [](int a, int b) { return a == 1 || b == 1 ? 3.0 : 1.0; };
  const diagnosis d = small_world{6, false, slow}.run(false);
  ASSERT_THAT(d.verdicts, SizeIs(1));
  EXPECT_EQ(d.verdicts[0].what, culprit::node);
  EXPECT_FALSE(d.verdicts[0].retested);
  EXPECT_THAT(in_words(d, {"a", "b"}), HasSubstr("node: b: "));
}

TEST(Diagnose, DropsWhatIsAsUsualWhenMeasuredAgain) {
  small_world w{6, true, [](int, int) { return 1.0; }};
  w.factor = [&w](int a, int b) { return w.retests == 0 && a == 3 && b == 4 ? 9.0 : 1.0; };
  EXPECT_THAT(w.run().verdicts, IsEmpty());
  EXPECT_GT(w.retests, 0);
}

TEST(Diagnose, FindsNothingInNothing) {
  surroundings where;
  where.nodes = 4;
  EXPECT_THAT(diagnose({}, where, {}).verdicts, IsEmpty());
}

TEST(Robust, TakesTheLowerOfTheMiddleTwo) {
  std::vector<float> values{9, 1, 9, 1};
  EXPECT_EQ(low_median(values), 1);
}

TEST(Robust, LetsFewDiscoveriesThroughAmongManyTests) {
  EXPECT_EQ(discovery_limit({0.009}, 1, 0.01), 0.009);
  EXPECT_EQ(discovery_limit({0.009}, 1000, 0.01), 0);
  EXPECT_EQ(discovery_limit({0.009, 1e-9}, 1000, 0.01), 1e-9);
}

TEST(FoundSlowPart, DoesNotCountContention) {
  diagnosis d;
  EXPECT_FALSE(found_slow_part(d));
  d.verdicts.emplace_back().what = culprit::contention;
  EXPECT_FALSE(found_slow_part(d));
  d.verdicts.emplace_back().what = culprit::link;
  EXPECT_TRUE(found_slow_part(d));
}

}  // namespace
}  // namespace heddle::linktest
