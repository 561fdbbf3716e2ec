// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/diagnose/rails.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::linktest {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

verdict slow(culprit what, int node, int peer, double factor) {
  verdict v;
  v.what = what;
  v.node = node;
  v.peer = peer;
  v.factor = factor;
  v.evidence = "Seen.";
  return v;
}

rail_findings over(int rail, std::vector<verdict> verdicts) {
  rail_findings out{rail, diagnosis{std::move(verdicts), {}}};
  for (verdict& v : out.slow->verdicts) v.rail = rail;
  return out;
}

TEST(VerdictsOnRails, NameTheRailOverWhichANodeIsSlowAndTheOthersThatAreNot) {
  const rail_findings rails[]{over(0, {}), over(1, {slow(culprit::node_tx, 2, -1, 4)}),
                              over(2, {})};
  const auto found = verdicts_on_rails(rails, true);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].what, culprit::rail);
  EXPECT_EQ(found[0].node, 2);
  EXPECT_EQ(found[0].rail, 1);
  EXPECT_EQ(found[0].evidence, "Seen. Over rails 0, 2 it is not slow.");
  EXPECT_THAT(found[0].or_else, IsEmpty());
}

TEST(VerdictsOnRails, NameTheNodeThatIsSlowOverEachOfThem) {
  const rail_findings rails[]{over(0, {slow(culprit::node_tx, 2, -1, 3)}),
                              over(1, {slow(culprit::node_tx, 2, -1, 4)})};
  const auto found = verdicts_on_rails(rails, true);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].what, culprit::node_tx);
  EXPECT_EQ(found[0].rail, -1);
  EXPECT_EQ(found[0].factor, 4);
  EXPECT_THAT(found[0].evidence, HasSubstr("rail 0 3.00 times, rail 1 4.00 times"));
}

TEST(VerdictsOnRails, NameTheNodeBothWaysThatSendsSlowlyOverOneAndReceivesSlowlyOverTheOther) {
  const rail_findings rails[]{over(0, {slow(culprit::node_tx, 2, -1, 3)}),
                              over(1, {slow(culprit::node_rx, 2, -1, 4)})};
  const auto found = verdicts_on_rails(rails, true);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].what, culprit::node);
}

TEST(VerdictsOnRails, SayThatTheNodeMayBeSlowWhereAnotherRailWasNotJudged) {
  rail_findings unknown{0, std::nullopt}, in_part = over(2, {});
  in_part.all_judged = false;
  const rail_findings rails[]{unknown, over(1, {slow(culprit::node, 2, -1, 4)}), in_part};
  const auto found = verdicts_on_rails(rails, false);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].what, culprit::rail);
  EXPECT_EQ(found[0].evidence, "Seen.");
  ASSERT_THAT(found[0].or_else, SizeIs(1));
  EXPECT_THAT(found[0].or_else[0], HasSubstr("the node as a whole"));
  EXPECT_THAT(found[0].or_else[0], HasSubstr("rails 0, 2"));
}

TEST(VerdictsOnRails, TakeALinkFromEitherEndForOneWhereTrafficGoesBothWays) {
  const rail_findings rails[]{over(0, {slow(culprit::link, 1, 2, 3)}),
                              over(1, {slow(culprit::link, 2, 1, 4)})};
  const auto both = verdicts_on_rails(rails, false);
  ASSERT_THAT(both, SizeIs(1));
  EXPECT_EQ(both[0].what, culprit::link);
  EXPECT_EQ(both[0].rail, -1);
  const auto each = verdicts_on_rails(rails, true);
  ASSERT_THAT(each, SizeIs(2));
  EXPECT_EQ(each[0].rail, 1) << "the slower one first";
  EXPECT_EQ(each[0].what, culprit::link);
}

TEST(VerdictsOnRails, LeaveOutContention) {
  const rail_findings rails[]{over(0, {slow(culprit::contention, 1, 2, 3)}), over(1, {})};
  EXPECT_THAT(verdicts_on_rails(rails, true), IsEmpty());
}

}  // namespace
}  // namespace heddle::linktest
