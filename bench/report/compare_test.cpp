// SPDX-License-Identifier: BSD-3-Clause
// compare_test.cpp - made-up runs before and after.
#include "report/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::bench {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

record measured(const std::string& unit, const std::vector<double>& rounds) {
  record r{.benchmark = "rate",
           .op = "put",
           .backend = "shm",
           .library = "heddle",
           .metric = "figure",
           .unit = unit};
  set_statistics(r, summarize(rounds));
  r.rounds = rounds;
  return r;
}

verdict judged(const record& before, const record& after) {
  const auto changes = compare({before}, {after}, {});
  return changes.size() == 1 ? changes.front().what : verdict::same;
}

const std::vector<double> low{10, 10.1, 10.2, 10.3, 10.4}, high{12, 12.1, 12.2, 12.3, 12.4},
    wide{5, 9, 10.2, 14, 20};

TEST(Compare, TellsWorseFromBetterByTheUnit) {
  EXPECT_EQ(judged(measured("us", low), measured("us", high)), verdict::worse);
  EXPECT_EQ(judged(measured("M/s", low), measured("M/s", high)), verdict::better);
  EXPECT_EQ(judged(measured("GB/s", high), measured("GB/s", low)), verdict::worse);
}

TEST(Compare, TakesWhatLiesWithinTheNoiseForTheSame) {
  EXPECT_EQ(judged(measured("us", low), measured("us", wide)), verdict::same);
  EXPECT_EQ(judged(measured("us", low), measured("us", low)), verdict::same);
  const std::vector<double> a_bit_more{10.41, 10.42, 10.43, 10.44, 10.45};
  EXPECT_EQ(judged(measured("us", low), measured("us", a_bit_more)), verdict::same);
}

TEST(Compare, JudgesNothingWithoutRoundsOrWithAnotherUnit) {
  record bare_medians = measured("us", high);
  bare_medians.rounds.clear();
  EXPECT_EQ(judged(measured("us", low), bare_medians), verdict::same);
  EXPECT_THAT(compare({measured("us", low)}, {measured("ns", high)}, {}), SizeIs(0));
}

TEST(Compare, PairsFiguresOfOneKindInTheirOrder) {
  const std::vector<record> file{measured("us", low), measured("us", high)};
  const auto changes = compare(file, file, {});
  ASSERT_THAT(changes, SizeIs(2));
  for (const change& c : changes) EXPECT_EQ(c.what, verdict::same);
}

TEST(Compare, DoesNotMixFiguresOfAnotherSetup) {
  record plain = measured("us", low), exposed = measured("us", high);
  plain.setup = "plain buffers";
  exposed.setup = "exposed buffers";
  const auto changes = compare({plain, exposed}, {exposed, plain}, {});
  ASSERT_THAT(changes, SizeIs(2));
  for (const change& c : changes) EXPECT_EQ(c.what, verdict::same);
  EXPECT_THAT(compare({plain}, {exposed}, {}), SizeIs(0));
}

TEST(Compare, LeavesOutRivalsAndRatios) {
  record rival = measured("us", low);
  rival.library = "ucx";
  const record ratio = measured("times", low);
  EXPECT_THAT(compare({rival, ratio}, {rival, ratio}, {}), SizeIs(0));
}

TEST(Compare, PrintsWhatChangedAndCountsTheRest) {
  record other = measured("us", low);
  other.op = "get";
  const auto changes = compare({measured("us", low), other}, {measured("us", high), other}, {});
  const std::string text = compare_table(changes, false);
  EXPECT_THAT(text, HasSubstr("worse  rate put shm 8 B T=1 figure"));
  EXPECT_THAT(text, HasSubstr("+19.6 %"));
  EXPECT_THAT(text, HasSubstr("1 of 2 figures are the same"));
  EXPECT_THAT(text, Not(HasSubstr("rate get")));
  EXPECT_THAT(compare_table(changes, true), HasSubstr("same   rate get"));
}

}  // namespace
}  // namespace heddle::bench
