// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "fuzz/plan_text.h"
#include "support/pattern.h"

namespace heddle::fuzz {
namespace {

using testing::HasSubstr;

/// Two messages from rank 0 to rank 1 with one tag, and their receives.
const std::string two_messages = R"(
ranks 2
lane 0 shared
phase 0
  0: 1.0 recv peer=0 bytes=100 tag=0x100
  1: 1.0 recv peer=any bytes=100 tag=0x100
  2: 0.0 send peer=1 bytes=10 tag=0x100
  3: 0.0 send peer=1 bytes=20 tag=0x100
)";

TEST(Rules, TwoPutsOnTheSameBytesNeedAFenceOrThePlanHasTwoResults) {
  const std::string head = "ranks 2\nlane 0 shared\narea 0 symmetric owner=all bytes=200\n";
  const std::string put = " 0.0 put peer=1 at=64 bytes=8\n";
  EXPECT_THAT(why_not(read(head + "0:" + put + "1:" + put)), HasSubstr("races with"));
  EXPECT_EQ(why_not(read(head + "0:" + put + "2: 0.0 fence peer=1\n1:" + put)), "");
  EXPECT_THAT(why_not(read(head + "0:" + put + "2: 0.0 fence peer=0\n1:" + put)),
              HasSubstr("races with"));
}

TEST(Rules, AFlushDoesNotOrderABlocksPutThatHasNotEnded) {
  const std::string head = "ranks 2\nlane 0 shared\narea 0 symmetric owner=all bytes=200\n";
  plan p = read(head +
                "0: 0.0 put peer=1 at=64 bytes=8 as=blocks\n1: 0.0 flush peer=1\n"
                "2: 0.0 put peer=1 at=64 bytes=8\n");
  EXPECT_THAT(why_not(p), HasSubstr("races with"));
  p.steps[0].ends = ending::blocking;
  EXPECT_EQ(why_not(p), "");
}

TEST(Rules, AStepHasOnlyTheFormsThatItsCallHas) {
  plan p = read(two_messages);
  p.steps[0].as = form::blocks;
  EXPECT_EQ(why_not(p), "");
  p.steps[0].as = form::matched;  // could not be taken back
  EXPECT_THAT(why_not(p), HasSubstr("has no such form"));
  p.steps[0].as = form::limited;
  EXPECT_THAT(why_not(p), HasSubstr("has no such form")) << "it does not wait";
  p.steps[2].as = form::grouped;
  EXPECT_THAT(why_not(p), HasSubstr("has no such form"));
  for (const char* right : {"flush peer=any as=posted ends=queue", "fence peer=1 as=limited"})
    EXPECT_EQ(why_not(read("ranks 2\nlane 0 shared\nphase 0\n 0: 0.0 " + std::string(right))), "");
  EXPECT_THAT(why_not(read("ranks 2\nlane 0 shared\nphase 0\n 0: 0.0 fence peer=1 as=posted "
                           "ends=counter")),
              HasSubstr("has no such form"));
}

TEST(Rules, AGroupIsOfALaneThatStays) {
  const std::string step = "0: all.0 barrier as=grouped\n";
  EXPECT_EQ(why_not(read("ranks 2\nlane 0 shared\n" + step)), "");
  EXPECT_THAT(why_not(read("ranks 2\nlane 0 exclusive=0\n" + step)), HasSubstr("has no group"));
}

TEST(Groups, AreOfOneParityAndCountBackwards) {
  step s;
  s.what = verb::broadcast;
  s.peer = 3;
  EXPECT_EQ(members_of(s, 1, 4), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(root_of(s, 1, 4), 3);
  s.as = form::grouped;
  EXPECT_EQ(members_of(s, 1, 4), (std::vector<int>{3, 1}));
  EXPECT_EQ(members_of(s, 2, 3), (std::vector<int>{2, 0}));
  EXPECT_EQ(root_of(s, 1, 4), 1);
  EXPECT_EQ(root_of(s, 1, 3), 3);  // of no rank
}

TEST(Rules, BytesThatAHandlerMayStillLookAtAreNotOverwritten) {
  const std::string head = "ranks 2\nlane 0 shared\narea 0 symmetric owner=all bytes=200\n";
  EXPECT_THAT(why_not(read(head + "0: 0.0 put_notify peer=1 at=64 bytes=8\n1: 0.0 flush peer=1\n"
                                  "2: 0.0 put peer=1 at=64 bytes=8\n")),
              HasSubstr("races with"));
}

TEST(Rules, AMessageOfAnotherThreadMayTakeTheReceiveThatASenderWaitsFor) {
  plan p = read(
      "ranks 2\nthreads 2\nlane 0 shared\n"
      "0: 1.0 recv peer=any bytes=9 tag=0x100 mask=0xffffffffffffff00\n"
      "1: 0.0 send peer=1 bytes=9 tag=0x100\n2: 0.1 send peer=1 bytes=9 tag=0x101\n"
      "3: 1.0 recv peer=any bytes=9 tag=0x100 mask=0xffffffffffffff00\n");
  EXPECT_EQ(why_not(p), "");
  p.steps[1].ends = ending::blocking;
  EXPECT_THAT(why_not(p), HasSubstr("waits for a receive that comes later"));
}

TEST(Rules, WaitsCannotFormARing) {
  plan p = read(two_messages);
  EXPECT_EQ(why_not(p), "");
  p.steps[0].ends = ending::blocking;
  EXPECT_THAT(why_not(p), HasSubstr("waits for a message that comes later"));
}

TEST(Rules, AReceiveThatTakesAnothersMessageIsRefused) {
  plan p = read(two_messages);
  p.steps[2].tag = 0x200;
  EXPECT_THAT(why_not(p), HasSubstr("lacks a receive"));
  p.steps[1].tag = 0x200;
  p.steps[1].mask = ~std::uint64_t{0x300};
  EXPECT_THAT(why_not(p), HasSubstr("accepts"));
}

TEST(Rules, WhatIsLostOnTheWayMustLeaveItsReceiveRevocable) {
  plan p = read(two_messages + "  4: 0.0 kill\n");
  EXPECT_EQ(why_not(p), "");
  p.steps[0].ends = ending::coroutine;
  EXPECT_THAT(why_not(p), HasSubstr("may fail, and could not tell"));
}

TEST(Contents, TheLastPutOverAByteWinsAndTheRestStays) {
  const plan p = read(
      "ranks 2\nlane 0 shared\narea 0 symmetric owner=all bytes=200\n"
      "0: 0.0 put peer=1 at=70 bytes=20\n1: 0.0 fence peer=1\n2: 0.0 put peer=1 at=80 bytes=2\n");
  const auto all = contents(p, p.areas[0], 1, p.steps.size());
  std::vector<std::byte> memory(200);
  for (std::size_t i = 70; i < 90; ++i) memory[i] = test::pattern_byte(0, i - 70);
  for (std::size_t i = 80; i < 82; ++i) memory[i] = test::pattern_byte(2, i - 80);
  EXPECT_FALSE(first_wrong(all, memory, 0));
  memory[82] ^= std::byte{1};
  EXPECT_EQ(first_wrong(all, memory, 0), 82u);
  EXPECT_TRUE(first_wrong(contents(p, p.areas[0], 0, p.steps.size()), memory, 0))
      << "another rank's";
}

TEST(Contents, BytesOfAPutThatFailedMayBeAnything) {
  const plan p = read(
      "ranks 2\nlane 0 shared\narea 0 symmetric owner=all bytes=200\n"
      "0: 0.0 put peer=1 at=70 bytes=20\n");
  const auto all = contents(p, p.areas[0], 1, 1, [](const step&) { return false; });
  std::vector<std::byte> memory(200);
  memory[75] = std::byte{9};
  EXPECT_FALSE(first_wrong(all, memory, 0));
  memory[90] = std::byte{9};
  EXPECT_EQ(first_wrong(all, memory, 0), 90u);
}

word_access add(std::uint64_t n, std::optional<std::uint64_t> old, bool certain = true) {
  return {static_cast<int>(atomic_op::add), n, 0, old, certain};
}

TEST(Words, SomeOrderMustExplainWhatWasFetchedAndWhatIsLeft) {
  EXPECT_TRUE(explains(5, std::vector{add(1, 7), add(2, 5), add(4, {})}, 12, 8));
  EXPECT_FALSE(explains(5, std::vector{add(1, 5), add(2, 5)}, 8, 8)) << "one did not see the other";
  EXPECT_FALSE(explains(5, std::vector{add(1, 5)}, 5, 8)) << "lost";
  EXPECT_TRUE(explains(5, std::vector{add(1, {}, false)}, 5, 8)) << "it may have failed";
  EXPECT_TRUE(explains(0xffffffff, std::vector{add(1, 0xffffffff)}, 0, 4)) << "wraps";
}

TEST(Words, ACompareSwapStoresOnlyWhereItFoundWhatItCompares) {
  const word_access swap{static_cast<int>(atomic_op::compare_swap), 9, 3, 4, true};
  EXPECT_TRUE(explains(4, std::vector{swap}, 4, 8));
  EXPECT_FALSE(explains(4, std::vector{swap}, 9, 8));
}

}  // namespace
}  // namespace heddle::fuzz
