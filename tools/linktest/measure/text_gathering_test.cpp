// SPDX-License-Identifier: BSD-3-Clause
// text_gathering_test.cpp - one rank hears everybody, and does not wait for the dead.
#include "linktest/measure/text_gathering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "linktest/measure/test_fabric.h"
#include "linktest/results/introduction.h"

namespace heddle::linktest {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(TextGathering, BringsEveryTextToRankZeroInOrder) {
  test_fabric fabric(4);
  fabric.run([](messenger& wire) {
    meeting ranks(wire);
    const auto all = gather_texts(ranks, std::string(static_cast<std::size_t>(wire.self()), 'x'));
    if (wire.self() == 0)
      EXPECT_THAT(all, ElementsAre("", "x", "xx", "xxx"));
    else
      EXPECT_THAT(all, IsEmpty());
  });
}

TEST(TextGathering, HearsNothingFromADeadRankAndMarksItLost) {
  test_fabric fabric(3);
  fabric.kill(1);
  fabric.run([](messenger& wire) {
    if (wire.self() == 1) return;
    meeting ranks(wire);
    const auto all = gather_texts(ranks, "here");
    if (wire.self() != 0) return;
    EXPECT_THAT(all, ElementsAre("here", "", "here"));
    EXPECT_TRUE(ranks.lost(1));
  });
}

TEST(TextGathering, BringsTheTextsToAnotherRankWhenRankZeroIsDead) {
  test_fabric fabric(4);
  fabric.kill(0);
  fabric.run([](messenger& wire) {
    if (wire.self() == 0) return;
    meeting ranks(wire);
    const auto all =
        gather_texts(ranks, std::string(static_cast<std::size_t>(wire.self()), 'x'), 1);
    if (wire.self() == 1)
      EXPECT_THAT(all, ElementsAre("", "x", "xx", "xxx"));
    else
      EXPECT_THAT(all, IsEmpty());
  });
}

TEST(TextGathering, SharesAllTextsWithTheRanksThatComeNextAndItsOwnWithTheOthers) {
  test_fabric fabric(5);
  fabric.kill(1);
  fabric.run([](messenger& wire) {
    if (wire.self() == 1) return;
    meeting ranks(wire);
    const std::vector<std::string> all{"a", "", "c", "d", "e"};
    const auto heard = share_texts(ranks, wire.self() == 0 ? all : std::vector<std::string>{}, 2);
    if (wire.self() == 0)
      EXPECT_TRUE(ranks.lost(1));
    else if (wire.self() == 2)
      EXPECT_EQ(heard, all);
    else
      EXPECT_THAT(heard, ElementsAre("a"));
  });
}

TEST(TextGathering, SharesNothingOfARankZeroThatIsDead) {
  test_fabric fabric(3);
  fabric.kill(0);
  fabric.run([](messenger& wire) {
    if (wire.self() == 0) return;
    meeting ranks(wire);
    for (const std::string& text : share_texts(ranks, {}, 1)) EXPECT_EQ(text, "");
    EXPECT_TRUE(ranks.lost(0));
  });
}

TEST(Introduction, IsLearntWithPlaceAndMachine) {
  run_facts facts;
  facts.hosts = {"a", "a", "b"};
  learn(facts, {introduce(true), "", "not JSON"});
  ASSERT_EQ(facts.places.size(), 3u);
  EXPECT_FALSE(facts.places[0].cpus.empty());
  EXPECT_FALSE(facts.places[0].cores.empty());
  EXPECT_EQ(facts.places[1].complex, -1);
  ASSERT_EQ(facts.machines.size(), 1u);
  EXPECT_EQ(facts.machines[0].host, "a");
}

}  // namespace
}  // namespace heddle::linktest
