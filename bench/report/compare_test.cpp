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

const std::vector<double> low{10, 10.1, 10.2, 10.3, 10.4}, high{12, 12.1, 12.2, 12.3, 12.4},
    wide{5, 9, 10.2, 14, 20};

record measured(const std::string& unit, const std::vector<double>& rounds) {
  record r{.benchmark = "rate",
           .op = "put",
           .backend = "shm",
           .library = "heddle",
           .metric = "figure",
           .unit = unit};
  set_statistics(r, summarize(rounds.empty() ? high : rounds));
  r.rounds = rounds;
  return r;
}

verdict judged(const record& before, const record& after) {
  const auto changes = compare({before}, {after}, {});
  return changes.size() == 1 ? changes.front().what : verdict::same;
}

TEST(Compare, TellsWorseFromBetterByTheUnitAndTakesNoiseForTheSame) {
  const std::vector<double> a_bit_more{10.41, 10.42, 10.43, 10.44, 10.45};
  const struct {
    const char* unit;
    std::vector<double> before, after;
    verdict what;
  } table[]{{"us", low, high, verdict::worse},   {"M/s", low, high, verdict::better},
            {"GB/s", high, low, verdict::worse}, {"us", low, wide, verdict::same},
            {"us", low, low, verdict::same},     {"us", low, a_bit_more, verdict::same},
            {"us", low, {}, verdict::same}};
  for (const auto& [unit, before, after, what] : table)
    EXPECT_EQ(judged(measured(unit, before), measured(unit, after)), what) << unit;
  EXPECT_THAT(compare({measured("us", low)}, {measured("ns", high)}, {}), SizeIs(0));
}

TEST(Compare, PairsFiguresOfOneSetupInTheirOrderButNoRivalsAndRatios) {
  record plain = measured("us", low), exposed = measured("us", high);
  plain.setup = "plain buffers";
  exposed.setup = "exposed buffers";
  record rival = measured("us", low);
  rival.library = "ucx";
  const record first = measured("us", low), second = measured("us", high),
               ratio = measured("times", low);
  const auto changes = compare({rival, ratio, first, second, plain, exposed},
                               {rival, ratio, first, second, exposed, plain}, {});
  ASSERT_THAT(changes, SizeIs(4));
  for (const change& c : changes) EXPECT_EQ(c.what, verdict::same);
  EXPECT_THAT(compare({plain}, {exposed}, {}), SizeIs(0));
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
