// overlap_pass_test.cpp - what a pass calls, in which order, and which side computes.
#include "bench/overlap_pass.h"

#include <gtest/gtest.h>

namespace heddle::bench {
namespace {

class scribe final : public overlap_side {
 public:
  void prepare() override { calls += 'r'; }
  void post() override { calls += 'p'; }
  void wait() override { calls += 'w'; }
  std::string calls;
};

TEST(OverlapPass, PreparesPostsAndWaitsForEveryMessage) {
  scribe side;
  (void)overlap_pass(side, 3, 0);
  EXPECT_EQ(side.calls, "rpwrpwrpw");
}

TEST(OverlapPass, ComputesBetweenPostingAndWaiting) {
  scribe side;
  const side_times t = overlap_pass(side, 1, 1e-4);
  EXPECT_GE(t.compute, 1e-4);
  EXPECT_GE(t.total, t.post + t.compute + t.wait - 1e-9);
}

TEST(OverlapPass, OnlyTheChosenSidesCompute) {
  EXPECT_TRUE(computes(computing::sender, true));
  EXPECT_FALSE(computes(computing::sender, false));
  EXPECT_TRUE(computes(computing::receiver, false));
  EXPECT_FALSE(computes(computing::receiver, true));
  EXPECT_TRUE(computes(computing::both, true) && computes(computing::both, false));
}

TEST(OverlapPass, HasEnoughMessagesForAMedianHoweverLargeTheyAre) {
  EXPECT_EQ(overlap_iterations(std::chrono::milliseconds(1), 1u << 30, 1e6), 5u);
  EXPECT_NEAR(double(overlap_iterations(std::chrono::milliseconds(200), 0, 80)), 1000, 1);
}

}  // namespace
}  // namespace heddle::bench
