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
    std::vector<pair_record> row(ranks);
    for (int b = 0; b < ranks; ++b) {
      if (a == b) continue;
      const bool slow = a == slow_rank || b == slow_rank;
      const float t = (slow ? 5e-6F : 1e-6F) * (1 + 0.002F * static_cast<float>((a + 3 * b) % 5));
      pair_record& pair = row[static_cast<std::size_t>(b)];
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
  const std::vector<int> one_host(ranks, 0);
  const std::vector<std::string> names(ranks, "h");
  return inspection(chosen).inspect(all, {chosen, steps, one_host}, names, false, kept, {});
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
