// SPDX-License-Identifier: BSD-3-Clause
#include "run/meeting_rounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::tools {
namespace {

namespace protocol = bootstrap::protocol;
using protocol::frame_kind;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using blob = meeting_rounds::blob;

/// What a reply says: its kind, and for `failed` its text.
std::pair<frame_kind, std::string> meaning(const meeting_rounds::reply& r) {
  protocol::frame_parser parser(1 << 20);
  parser.push(*r.bytes);
  const auto frame = parser.next();
  return {frame->kind, protocol::decode_text(frame->payload)};
}

class MeetingRounds : public testing::Test {
 protected:
  void join_all(int size) {
    for (int rank = 0; rank < size; ++rank) EXPECT_EQ(meetings_.join(rank), 0);
  }
  void barrier(int rank, int round = 0) { meetings_.call(rank, round, frame_kind::barrier, {}); }
  void expect_failed(int rank, const std::string& text) {
    const auto replies = meetings_.take_replies();
    ASSERT_THAT(replies, SizeIs(1));
    EXPECT_EQ(replies[0].rank, rank);
    EXPECT_EQ(meaning(replies[0]).first, frame_kind::failed);
    EXPECT_THAT(meaning(replies[0]).second, HasSubstr(text));
  }

  meeting_rounds meetings_{3};
};

TEST_F(MeetingRounds, NobodyIsReleasedBeforeTheLastOneComes) {
  join_all(3);
  barrier(2);
  barrier(0);
  EXPECT_THAT(meetings_.take_replies(), IsEmpty());
  barrier(1);
  const auto replies = meetings_.take_replies();
  ASSERT_THAT(replies, SizeIs(3));
  for (const auto& r : replies) EXPECT_EQ(meaning(r).first, frame_kind::released);
}

TEST_F(MeetingRounds, AnExchangeGivesAllBlobsInTheOrderOfRanks) {
  join_all(3);
  for (const int rank : {1, 2, 0})
    meetings_.call(rank, 0, frame_kind::exchange, blob{static_cast<std::byte>(rank)});
  const auto replies = meetings_.take_replies();
  ASSERT_THAT(replies, SizeIs(3));
  const std::vector<blob> all{{std::byte{0}}, {std::byte{1}}, {std::byte{2}}};
  EXPECT_EQ(*replies[0].bytes,
            protocol::encode(frame_kind::everything, protocol::encode_blobs(all)));
}

TEST_F(MeetingRounds, ADeathFailsWhoWaitsAndWhoComesLater) {
  join_all(3);
  barrier(0);
  meetings_.end(1, "rank 1 died");
  expect_failed(0, "rank 1 died");
  barrier(2);
  expect_failed(2, "rank 1 died");
}

TEST_F(MeetingRounds, ARankThatHadCalledBeforeItDiedStillCounts) {
  join_all(3);
  barrier(1);
  meetings_.end(1, "rank 1 died");
  barrier(0);
  EXPECT_THAT(meetings_.take_replies(), IsEmpty());
  barrier(2);
  EXPECT_THAT(meetings_.take_replies(), SizeIs(3));
  barrier(0);
  expect_failed(0, "rank 1 died");
}

TEST_F(MeetingRounds, TheFirstDeathIsNamedAsTheCause) {
  join_all(3);
  meetings_.end(2, "rank 2 died");
  meetings_.end(0, "rank 0 died of it");
  barrier(1);
  expect_failed(1, "rank 2 died");
}

TEST_F(MeetingRounds, DifferentCallsFailBothCallers) {
  join_all(3);
  barrier(0);
  meetings_.call(1, 0, frame_kind::exchange, {});
  const auto replies = meetings_.take_replies();
  ASSERT_THAT(replies, SizeIs(2));
  for (const auto& r : replies) EXPECT_THAT(meaning(r).second, HasSubstr("rank 1 called another"));
}

TEST_F(MeetingRounds, ARankIsJoinedOnceAtATime) {
  EXPECT_EQ(meetings_.join(0), 0);
  EXPECT_EQ(meetings_.join(0), std::nullopt);
  meetings_.leave(0, 0, "left");
  EXPECT_EQ(meetings_.join(0), 1);
}

TEST_F(MeetingRounds, RoundsAreApartFromEachOther) {
  join_all(3);
  meetings_.leave(0, 0, "rank 0 left");
  EXPECT_EQ(meetings_.join(0), 1);
  barrier(0, 1);
  barrier(1, 0);
  expect_failed(1, "rank 0 left");
  for (const int rank : {1, 2}) {
    meetings_.leave(rank, 0, "left");
    EXPECT_EQ(meetings_.join(rank), 1);
    barrier(rank, 1);
  }
  const auto replies = meetings_.take_replies();
  ASSERT_THAT(replies, SizeIs(3));
  for (const auto& r : replies) {
    EXPECT_EQ(r.round, 1);
    EXPECT_EQ(meaning(r).first, frame_kind::released);
  }
}

TEST_F(MeetingRounds, WhoEndedIsMissedInLaterRoundsToo) {
  join_all(3);
  meetings_.end(1, "rank 1 died");
  meetings_.leave(0, 0, "rank 0 left");
  EXPECT_EQ(meetings_.join(0), 1);
  barrier(0, 1);
  expect_failed(0, "rank 1 died");
}

}  // namespace
}  // namespace heddle::tools
