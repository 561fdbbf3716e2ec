// peer_line_test.cpp - what peer programs print, whole, among other lines, and broken.
#include "bench/peer_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace heddle::bench {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

std::string failure_of(const std::string& output) {
  try {
    (void)parse_peer_lines(output);
  } catch (const std::runtime_error& why) {
    return why.what();
  }
  return "did not fail";
}

TEST(PeerLine, ComesBackAsItWasWritten) {
  const auto rounds = parse_peer_lines(to_line({.seconds_per_op = 1.25e-7, .sides = {}}) + '\n');
  ASSERT_THAT(rounds, SizeIs(1));
  EXPECT_DOUBLE_EQ(rounds.front().seconds_per_op.value(), 1.25e-7);
  EXPECT_FALSE(rounds.front().sides);
}

TEST(PeerLine, OfOverlapKeepsAllTimesOfBothSides) {
  const side_round sender{{1, 2, 3, 6}, {4, 5, 6, 15}};
  const side_round receiver{{7, 8, 9, 24}, {1, 1, 1, 3}};
  const auto rounds =
      parse_peer_lines(to_line({.seconds_per_op = {}, .sides = {{sender, receiver}}}));
  ASSERT_THAT(rounds, SizeIs(1));
  ASSERT_TRUE(rounds.front().sides);
  EXPECT_DOUBLE_EQ(rounds.front().sides->front().alone.compute, 2);
  EXPECT_DOUBLE_EQ(rounds.front().sides->front().together.total, 15);
  EXPECT_DOUBLE_EQ(rounds.front().sides->back().alone.wait, 9);
  EXPECT_DOUBLE_EQ(rounds.front().sides->back().together.post, 1);
}

TEST(PeerLine, IsFoundAmongWarnings) {
  const std::string line = to_line({.seconds_per_op = 1, .sides = {}});
  const std::string output =
      "WARNING: no fabric\n\n" + line + "\n{\"other\":1}\n" + line + "\nbye\n";
  EXPECT_THAT(parse_peer_lines(output), SizeIs(2));
}

TEST(PeerLine, ThatIsMissingIsNoRound) {
  EXPECT_THAT(parse_peer_lines("mpirun: no such file\n"), SizeIs(0));
}

TEST(PeerLine, ThatIsCutOrHasNoTimeIsRefusedWithItsText) {
  EXPECT_THAT(failure_of(R"({"peer_round":{"seconds_per)"), HasSubstr("seconds_per"));
  EXPECT_THAT(failure_of(R"({"peer_round":{}})"), HasSubstr("sender"));
  EXPECT_THAT(failure_of(R"({"peer_round":{"seconds_per_op":0.0}})"), HasSubstr("not positive"));
  EXPECT_THAT(failure_of(R"({"peer_round":{"seconds_per_op":"x"}})"), HasSubstr("type"));
}

}  // namespace
}  // namespace heddle::bench
