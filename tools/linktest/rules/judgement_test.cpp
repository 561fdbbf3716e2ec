// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/rules/judgement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::linktest {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Six ranks on three hosts, all pairs measured but those with `dead`.
results six_ranks(int dead) {
  results all(6, kernel::semi, {8});
  for (int r = 0; r < 6; ++r) {
    row mine(1, 6, 1);
    for (int p = 0; p < 6; ++p) {
      if (p == r) continue;
      if (p == dead || r == dead)
        mine.mark_all_sizes(p, pair_state::lost);
      else
        mine.add_time(0, p, 1e-6);
    }
    all.set_row(r, mine.records());
  }
  return all;
}

run_facts three_hosts(std::initializer_list<verdict> verdicts) {
  run_facts facts;
  facts.hosts = {"a", "a", "b", "b", "c", "c"};
  facts.slow.emplace().verdicts = verdicts;
  return facts;
}

verdict of(culprit what, int node, int peer = -1) {
  verdict v;
  v.what = what;
  v.node = node;
  v.peer = peer;
  return v;
}

TEST(Drain, NamesTheHostsOfAccusedNodesAndRailsOnceInOrder) {
  const results all = six_ranks(-1);
  const run_facts facts = three_hosts({of(culprit::node_tx, 5), of(culprit::rail, 1),
                                       of(culprit::node, 4), of(culprit::node_rx, 0)});
  EXPECT_THAT(hosts_to_drain(facts, all), ElementsAre("a", "c"));
  EXPECT_EQ(to_drain_list(facts, all), "a\nc\n");
}

TEST(Drain, DoesNotNameTheEndsOfALinkNorWhoMeetsContention) {
  const run_facts facts = three_hosts({of(culprit::link, 0, 2), of(culprit::contention, 1, 4)});
  EXPECT_THAT(hosts_to_drain(facts, six_ranks(-1)), IsEmpty());
  EXPECT_THAT(hosts_to_drain(run_facts{}, results(2, kernel::semi, {8})), IsEmpty());
}

TEST(Drain, NamesTheHostOfARankThatWasLostToSeveralButNotOfThoseWhoLostIt) {
  EXPECT_THAT(hosts_to_drain(three_hosts({}), six_ranks(3)), ElementsAre("b"));
  results two(2, kernel::semi, {8});
  for (int r = 0; r < 2; ++r) {
    row mine(1, 2, 1);
    mine.mark_all_sizes(1 - r, pair_state::lost);
    two.set_row(r, mine.records());
  }
  run_facts facts;
  facts.hosts = {"a", "b"};
  EXPECT_THAT(hosts_to_drain(facts, two), IsEmpty()) << "nobody knows whose fault it is";
}

TEST(Drain, NamesTheHostOfARankThatWasLostAfterSomeHadMetIt) {
  results all = six_ranks(3);
  for (int r : {0, 1}) {
    row mine(1, 6, 1);
    for (int p = 0; p < 6; ++p)
      if (p != r) mine.add_time(0, p, 1e-6);
    all.set_row(r, mine.records());
  }
  EXPECT_THAT(hosts_to_drain(three_hosts({}), all), ElementsAre("b"));
}

TEST(Drain, DoesNotNameTheHostOfARankWhosePartnersWereAllLost) {
  results all(6, kernel::semi, {8});  // a sample: 0 was to meet 4 and 5, which are gone
  for (int r = 0; r < 6; ++r) {
    row mine(1, 6, 1);
    for (int p = 0; p < 6; ++p) {
      const bool met = r != 0 || p == 4 || p == 5;
      if (p == r || !met) continue;
      if (r >= 4 || p >= 4)
        mine.mark_all_sizes(p, pair_state::lost);
      else
        mine.add_time(0, p, 1e-6);
    }
    all.set_row(r, mine.records());
  }
  EXPECT_THAT(hosts_to_drain(three_hosts({}), all), ElementsAre("c"));
}

TEST(Status, OfARunIsThatOfWhatFailedThenOfWhatIsSlowThenOfMissedRules) {
  run_facts facts = three_hosts({of(culprit::contention, 0, 2)});
  EXPECT_EQ(status_of(facts, six_ranks(-1)), success);
  facts.missed.emplace_back();
  EXPECT_EQ(status_of(facts, six_ranks(-1)), rule_missed);
  facts.slow->verdicts.push_back(of(culprit::link, 0, 2));
  EXPECT_EQ(status_of(facts, six_ranks(-1)), slow_part);
  EXPECT_EQ(status_of(facts, six_ranks(3)), incomplete);
}

}  // namespace
}  // namespace heddle::linktest
