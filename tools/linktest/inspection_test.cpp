// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/inspection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::linktest {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr int ranks = 8, slow_rank = 2;

/// A microsecond, a little different for each pair; `slow_rank` takes five.
results one_slow_rank() {
  results all(ranks, kernel::semi, {1000});
  for (int a = 0; a < ranks; ++a) {
    std::vector<row_record> row;
    for (int b = 0; b < ranks; ++b) {
      if (a == b) continue;
      const bool slow = a == slow_rank || b == slow_rank;
      const float t = (slow ? 5e-6F : 1e-6F) * (1 + 0.002F * static_cast<float>((a + 3 * b) % 5));
      pair_record& pair = row.emplace_back(row_record{b, 0, {}}).known;
      pair.time.n = 9;
      pair.time.median = pair.time.ci_low = pair.time.ci_high = t;
      pair.state = pair_state::measured;
    }
    all.set_row(a, row);
  }
  return all;
}

/// What is found when each rank waited for a core as `kept` says.
findings find(diagnosis_choice choice, const std::vector<double>& kept) {
  options chosen;
  chosen.search.diagnose = choice;
  const results all = one_slow_rank();
  const plan steps = plan_of(chosen, ranks);
  run_facts facts;
  facts.chosen = chosen;
  facts.hosts.assign(ranks, "h");
  return inspection(chosen).inspect(all, {facts, steps}, false, kept, {});
}

/// A rank on each of eight hosts: a microsecond within a group of four, ten between the two groups.
/// Between ranks 0 and 1, which share a group, it is five.
results slow_pair_in_a_group(const std::vector<std::string>& group_of) {
  results all(ranks, kernel::semi, {1000});
  for (int a = 0; a < ranks; ++a) {
    std::vector<row_record> row;
    for (int b = 0; b < ranks; ++b) {
      if (a == b) continue;
      const bool near =
          group_of[static_cast<std::size_t>(a)] == group_of[static_cast<std::size_t>(b)];
      pair_record& pair = row.emplace_back(row_record{b, 0, {}}).known;
      pair.time.n = 9;
      const float usual = a + b == 1 ? 5e-6F : near ? 1e-6F : 1e-5F;
      pair.time.median = usual * (1 + 0.002F * static_cast<float>((a + 3 * b) % 5));
      pair.time.ci_low = pair.time.ci_high = pair.time.median;
      pair.state = pair_state::measured;
    }
    all.set_row(a, row);
  }
  return all;
}

std::vector<double> waiting(int first, int end) {
  std::vector<double> kept(ranks, 0.01);
  for (int r = first; r < end; ++r) kept[static_cast<std::size_t>(r)] = 0.4;
  return kept;
}

TEST(Inspection, NamesASlowRankThatHadItsCore) {
  const findings found = find(diagnosis_choice::automatic, waiting(0, 0));
  ASSERT_TRUE(found.slow);
  ASSERT_FALSE(found.slow->verdicts.empty());
  EXPECT_EQ(found.slow->verdicts[0].node, slow_rank);
  EXPECT_THAT(found.disturbed, IsEmpty());
}

TEST(Inspection, FindsALinkThatIsSlowForItsGroupAlthoughPairsOfTwoGroupsAreSlower) {
  const options chosen;
  const plan steps = plan_of(chosen, ranks);
  run_facts facts;
  facts.hosts = {"a", "b", "c", "d", "e", "f", "g", "h"};
  facts.groups = {"near", "near", "near", "near", "far", "far", "far", "far"};
  const results all = slow_pair_in_a_group(facts.groups);
  const findings found = inspection(chosen).inspect(all, {facts, steps}, false, {}, {});
  ASSERT_TRUE(found.slow);
  EXPECT_THAT(found.slow->verdicts, testing::SizeIs(2)) << "once from each end";
  for (const verdict& v : found.slow->verdicts) {
    EXPECT_EQ(v.what, culprit::link);
    EXPECT_EQ(v.node + v.peer, 1);
    EXPECT_NEAR(v.factor, 5, 0.5);
  }
  facts.groups.clear();
  const findings untold = inspection(chosen).inspect(all, {facts, steps}, false, {}, {});
  ASSERT_TRUE(untold.slow);
  for (const verdict& v : untold.slow->verdicts) EXPECT_NE(v.node + v.peer, 1) << "not slow then";
}

TEST(Inspection, DoesNotJudgeARankThatWaitedForItsCoreAndSaysSo) {
  const findings found = find(diagnosis_choice::automatic, waiting(slow_rank, slow_rank + 1));
  ASSERT_TRUE(found.slow);
  EXPECT_THAT(found.slow->verdicts, IsEmpty());
  EXPECT_EQ(status_of(found, success), success);
  EXPECT_THAT(in_words(found, std::vector<std::string>(ranks, "h")), HasSubstr("rank 2 (h) 40 %"));
}

TEST(Inspection, LooksForNothingWhereMostRanksWaitedForCores) {
  const findings found = find(diagnosis_choice::automatic, waiting(0, 5));
  EXPECT_FALSE(found.slow);
  EXPECT_THAT(found.not_diagnosed, HasSubstr("--diagnosis always"));
}

TEST(Inspection, JudgesAllWhereThatIsAskedFor) {
  const findings found = find(diagnosis_choice::always, waiting(0, ranks));
  ASSERT_TRUE(found.slow);
  EXPECT_FALSE(found.slow->verdicts.empty());
}

}  // namespace
}  // namespace heddle::linktest
