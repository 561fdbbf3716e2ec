// SPDX-License-Identifier: BSD-3-Clause
// incoming_rings_test.cpp - taking from rings in turn, with rings of this process.
#include "backends/shm/incoming_rings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "backends/shm/test_link.h"

namespace heddle::transport::shm {
namespace {

struct IncomingRings : testing::Test {
  IncomingRings() {
    rings.reserve(2);
    rings.add(one.receiver);
    rings.add(two.receiver);
  }
  /// Texts of one take() of at most so many events.
  std::vector<std::string> take(std::size_t most) {
    std::vector<event> out(most);
    out.resize(rings.take(out, [&](link& of) { corrupt.push_back(&of); }));
    std::vector<std::string> texts;
    for (const event& e : out)
      texts.emplace_back(reinterpret_cast<const char*>(e.bytes.data()), e.bytes.size());
    return texts;
  }

  own_segment here{0};
  test_link one{here, 1}, two{here, 2};
  incoming_rings rings;
  std::vector<link*> corrupt;
};

TEST_F(IncomingRings, HaveWorkOnceSomethingIsInOne) {
  EXPECT_FALSE(rings.have_work());
  ASSERT_TRUE(two.send("a"));
  EXPECT_TRUE(rings.have_work());
  EXPECT_THAT(take(8), testing::ElementsAre("a"));
  EXPECT_FALSE(rings.have_work());
}

TEST_F(IncomingRings, AreTakenFromInTurn) {
  for (const char* text : {"a", "b", "c"}) ASSERT_TRUE(one.send(text));
  ASSERT_TRUE(two.send("x"));
  EXPECT_THAT(take(2), testing::ElementsAre("a", "b"));
  EXPECT_THAT(take(2), testing::ElementsAre("x", "c"));
}

TEST_F(IncomingRings, HoldWhatWasTakenUntilItIsReleased) {
  while (one.send("a")) {
  }
  ASSERT_THAT(take(1000), testing::Each("a"));
  EXPECT_TRUE(rings.hold_messages());
  EXPECT_FALSE(one.send("b"));
  rings.release();
  EXPECT_FALSE(rings.hold_messages());
  EXPECT_TRUE(one.send("b"));
}

TEST_F(IncomingRings, WakeASenderThatWaitsForItsLines) {
  while (one.send("a")) {
  }
  const bell_pipe bell = make_bell();
  one.receiver.there->bell.set(bell.write.get());
  one.receiver.there->asleep.mark_asleep();
  one.sender.out->control().producer_waits.mark_asleep();
  ASSERT_THAT(take(1), testing::SizeIs(1));
  EXPECT_FALSE(is_readable(bell.read.get()));
  rings.release();
  EXPECT_TRUE(is_readable(bell.read.get()));
}

TEST_F(IncomingRings, KnowTheFirstMessageBehindOneThatWasSentToItsSender) {
  test_link back{here, 3};
  one.receiver.out.swap(back.sender.out);
  const auto brings_answer = [this](test_link& of) {
    rings.release();
    EXPECT_TRUE(of.send("a"));
    EXPECT_THAT(take(8), testing::SizeIs(1));
    return rings.hold_answers();
  };
  (void)brings_answer(one);
  EXPECT_FALSE(brings_answer(one));
  ASSERT_TRUE(one.receiver.out->try_push({}, {}, {}));
  EXPECT_FALSE(brings_answer(two)) << "to somebody else";
  EXPECT_TRUE(brings_answer(one));
  EXPECT_FALSE(brings_answer(one));
}

TEST_F(IncomingRings, TakeNothingMoreFromOneThatWasRemoved) {
  ASSERT_TRUE(one.send("a"));
  ASSERT_TRUE(two.send("b"));
  rings.remove(one.receiver);
  EXPECT_THAT(take(8), testing::ElementsAre("b"));
}

TEST_F(IncomingRings, TellOfOneThatMakesNoSense) {
  ASSERT_TRUE(one.send("a"));
  two.spoil();
  EXPECT_THAT(take(8), testing::ElementsAre("a"));
  EXPECT_THAT(corrupt, testing::ElementsAre(&two.receiver));
  EXPECT_TRUE(two.receiver.corrupt);
}

}  // namespace
}  // namespace heddle::transport::shm
