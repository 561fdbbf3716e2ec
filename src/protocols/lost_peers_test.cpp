// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/lost_peers.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace heddle::protocols {
namespace {

struct told {
  std::vector<std::string> words;
  static void add(void* context, rank peer, std::string_view why) noexcept {
    static_cast<told*>(context)->words.push_back(std::to_string(peer) + ": " + std::string(why));
  }
};
using words = std::vector<std::string>;

TEST(LostPeers, TellTheProgramOnceHoweverManyLanesLoseThePeer) {
  lost_peers losses;
  told program;
  losses.set_handler(&told::add, &program);
  losses.note(0, 3, "it was killed", false)({});
  losses.note(1, 3, "it hung up", false)({});
  losses.note(0, 2, "it left", false)({});
  EXPECT_EQ(program.words, (words{"3: it was killed", "2: it left"}));
}

TEST(LostPeers, TellAtOnceOfThoseLostBeforeAnybodyAsked) {
  lost_peers losses;
  const completion early = losses.note(0, 1, "it left", false);
  early({});
  told program;
  losses.set_handler(&told::add, &program);
  EXPECT_EQ(program.words, words{"1: it left"});
  early({});
  EXPECT_EQ(program.words.size(), 1u);
}

TEST(LostPeers, KnowWhyForEachLaneAndWithoutThatWhyAnotherLaneDoes) {
  lost_peers losses;
  EXPECT_EQ(losses.why(0, 1), "");
  (void)losses.note(2, 1, "it hung up", false);
  (void)losses.note(5, 1, "no descriptor is left", false);
  (void)losses.note(0, 4, "it left", false);
  EXPECT_EQ(losses.why(5, 1), "no descriptor is left");
  EXPECT_EQ(losses.why(0, 1), "it hung up");
  EXPECT_EQ(losses.why(0, 2), "");
}

TEST(LostPeers, AreLoggedOnceAndOnlyWhenMissed) {
  lost_peers losses;
  testing::internal::CaptureStderr();
  (void)losses.note(0, 7, "it left", false);
  (void)losses.note(1, 7, "it hung up", true);
  (void)losses.note(2, 7, "it hung up", true);
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("rank 7 is lost: it hung up"), std::string::npos) << log;
  EXPECT_EQ(log.find("rank 7"), log.rfind("rank 7")) << log;
}

// It may ask, and set another handler.
TEST(LostPeers, HoldNoLockWhileTheyTell) {
  static lost_peers losses;
  static std::string answer;
  losses.set_handler(
      [](void*, rank peer, std::string_view) noexcept {
        answer = losses.why(0, peer);
        losses.set_handler(nullptr, nullptr);
      },
      nullptr);
  losses.note(0, 1, "it left", false)({});
  EXPECT_EQ(answer, "it left");
}

}  // namespace
}  // namespace heddle::protocols
