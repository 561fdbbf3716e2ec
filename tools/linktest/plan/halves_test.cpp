// SPDX-License-Identifier: BSD-3-Clause
// halves_test.cpp - a bisection meets every pair between its halves once, and no other.
#include "linktest/plan/halves.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heddle/status.h>

#include <map>
#include <set>
#include <utility>

#include "linktest/plan/plan.h"

namespace heddle::linktest {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Halves, EveryTwoRanksOfDifferentHalvesMeetOnceAndNoOthers) {
  for (const char* choice : {"first", "random", "1", "0-1,4", "2,5"}) {
    for (const int n : {6, 7, 11}) {
      const halves both(n, parse_halves(choice), 3);
      std::map<std::pair<int, int>, int> met;
      for (std::int64_t s = 0; s < both.steps(); ++s) {
        std::int64_t busy = 0;
        for (int r = 0; r < n; ++r) {
          const auto p = static_cast<int>(both.partner(r, s));
          if (p == halves::idle) continue;
          ASSERT_EQ(both.partner(p, s), r);
          ++busy;
          ++met[{r, p}];
        }
        EXPECT_EQ(busy, 2 * both.pairs());
      }
      for (int r = 0; r < n; ++r)
        for (int p = 0; p < n; ++p)
          EXPECT_EQ((met[{r, p}]), both.in_first(r) != both.in_first(p) ? 1 : 0)
              << choice << ' ' << r << ' ' << p;
    }
  }
}

TEST(Halves, ArePickedByTheSeed) {
  const auto half_of = [](std::uint64_t seed) {
    std::set<int> out;
    const halves both(40, parse_halves("random"), seed);
    for (int r = 0; r < 40; ++r)
      if (both.in_first(r)) out.insert(r);
    return out;
  };
  EXPECT_EQ(half_of(1).size(), 20u);
  EXPECT_EQ(half_of(1), half_of(1));
  EXPECT_NE(half_of(1), half_of(2));
}

TEST(Halves, OfWholeHostsOrGroupsCutNoneInTwo) {
  const std::vector<int> host_of{0, 1, 2, 0, 1, 2, 2}, group_of{7, 4, 4, 7, 4, 4, 4};
  const halves_choice hosts = for_hosts(parse_halves("hosts"), host_of, group_of);
  EXPECT_THAT(hosts.first, ElementsAre(0, 3)) << "one host of three";
  EXPECT_EQ(text_of(hosts), "hosts") << "what was asked for, not who that is";
  const halves_choice groups = for_hosts(parse_halves("groups"), host_of, group_of);
  EXPECT_THAT(groups.first, ElementsAre(1, 2, 4, 5, 6)) << "the group of the lower number";
  EXPECT_EQ(text_of(groups), "groups");
  const halves both(7, hosts, 1);
  for (int r = 0; r < 7; ++r)
    EXPECT_EQ(both.in_first(r), host_of[static_cast<std::size_t>(r)] == 0) << r;
  EXPECT_EQ(both.pairs(), 2);
}

TEST(Halves, AreRefusedWhereThereIsOnlyOneHostOrGroup) {
  const std::vector<int> one{3, 3, 3};
  const auto why = [&one](const char* choice) {
    return halves::problem_with(for_hosts(parse_halves(choice), one, one), 3);
  };
  EXPECT_THAT(why("hosts"), HasSubstr("on one host: start some on others"));
  EXPECT_THAT(why("groups"), HasSubstr("in one group: take hosts of others"));
}

TEST(Halves, AreReadAndWrittenAsTextAndRefusedWithTheCure) {
  EXPECT_THAT(parse_halves("4,0-2,1").first, ElementsAre(0, 1, 2, 4));
  for (const char* text : {"none", "first", "random", "hosts", "groups", "0-2,4", "7"})
    EXPECT_EQ(text_of(parse_halves(text)), text);
  for (const char* bad : {"", "half", "-1", "3-1", "1,", "1-", "1,,2", "99999999999"}) {
    try {
      (void)parse_halves(bad);
      ADD_FAILURE() << "accepted " << bad;
    } catch (const error& why) {
      EXPECT_THAT(why.what(), HasSubstr("hosts, groups, or ranks such as 0-3,8"));
    }
  }
  EXPECT_THAT(halves::problem_with(parse_halves("0-3"), 4), HasSubstr("one half"));
  EXPECT_THAT(halves::problem_with(parse_halves("4"), 4), HasSubstr("the last of this job is 3"));
  EXPECT_EQ(halves::problem_with(parse_halves("3"), 4), "");
}

TEST(Halves, MakeAPlanInWhichOneHalfStartsAllItsPairsAtOnce) {
  for (const bool shuffled : {false, true}) {
    const plan p(7, run_mode::parallel, shuffled, 5, plan::all_steps, parse_halves("random"));
    const halves both(7, parse_halves("random"), 5);
    EXPECT_EQ(p.steps(), 4);
    EXPECT_EQ(p.ordered_pairs(), 24u);
    std::uint64_t turns = 0;
    for (std::int64_t s = 0; s < p.steps(); ++s)
      for (std::int64_t phase = 0; phase < 2; ++phase)
        for (int r = 0; r < 7; ++r)
          if (const turn t = p.turn_of(r, 1, s, phase); t.initiator) {
            ++turns;
            EXPECT_EQ(both.in_first(r), phase == 0);
          }
    EXPECT_EQ(turns, 24u);
  }
}

}  // namespace
}  // namespace heddle::linktest
