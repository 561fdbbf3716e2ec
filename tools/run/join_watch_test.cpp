// SPDX-License-Identifier: BSD-3-Clause
#include "run/join_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::tools {
namespace {

namespace protocol = bootstrap::protocol;
using protocol::frame_kind;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

/// Ranks that have joined in round 0; rank r is process 100 + r.
class JoinWatch : public testing::Test {
 protected:
  explicit JoinWatch(int size = 3)
      : meetings_(size), watch_(meetings_, size, [this](auto& line) { told_.push_back(line); }) {
    for (int rank = 0; rank < size; ++rank) {
      watch_.process_started(rank, 100 + rank, "here");
      EXPECT_EQ(meetings_.join(rank), 0);
    }
  }
  void arrives(int rank, std::uint64_t limit_ms) {
    watch_.begin(rank, 0, limit_ms);
    calls(rank);
  }
  void calls(int rank) {
    watch_.set_waiting(rank, true);
    meetings_.call(rank, 0, frame_kind::barrier, {});
  }
  /// So many whole seconds pass for those that began to wait before: the first tick ends a part of
  /// one.
  void begun_and(int seconds) { ticks(1 + seconds); }
  void ticks(int count) {
    for (int i = 0; i < count; ++i) watch_.tick();
  }
  /// What the ranks that waited are told; empty: they wait on.
  std::vector<std::string> failures() {
    std::vector<std::string> texts;
    for (const auto& reply : meetings_.take_replies()) {
      protocol::frame_parser parser(1 << 20);
      parser.push(*reply.bytes);
      const auto frame = parser.next();
      EXPECT_EQ(frame->kind, frame_kind::failed);
      texts.push_back(protocol::decode_text(frame->payload));
    }
    return texts;
  }

  meeting_rounds meetings_;
  std::vector<std::string> told_;
  join_watch watch_;
};

TEST(JoinWatchAtStart, CountsNoWaitingWhileRanksAreStillStartedAndTellsThoseThatWait) {
  meeting_rounds meetings(2);
  std::vector<std::string> told;
  join_watch watch(meetings, 2, [&](auto& line) { told.push_back(line); });
  watch.process_started(0, 100, "here");
  ASSERT_EQ(meetings.join(0), 0);
  watch.begin(0, 0, 1000);
  watch.set_waiting(0, true);
  meetings.call(0, 0, frame_kind::barrier, {});
  for (int s = 0; s < 60; ++s) watch.tick();
  EXPECT_THAT(told, IsEmpty());
  const auto words = meetings.take_replies();
  ASSERT_THAT(words, SizeIs(60));
  EXPECT_EQ(words.front().rank, 0);
  EXPECT_FALSE(words.front().answers());
  watch.process_started(1, 101, "here");
  for (int s = 0; s < 60; ++s) watch.tick();
  EXPECT_THAT(meetings.take_replies(), SizeIs(1)) << "its limit is over";
}

class JoinWatchOfMany : public JoinWatch {
 protected:
  JoinWatchOfMany() : JoinWatch(100) {}
};

TEST_F(JoinWatch, SaysAfterFiveSecondsWhomTheOthersWaitFor) {
  arrives(0, 0);
  arrives(2, 0);
  begun_and(4);
  EXPECT_THAT(told_, IsEmpty());
  ticks(1);
  EXPECT_THAT(told_, ElementsAre(AllOf(HasSubstr("waiting for rank 1 (host "),
                                       HasSubstr("process 101"), Not(HasSubstr("rank 0")))));
}

TEST_F(JoinWatch, SaysItAgainMoreAndMoreRarely) {
  arrives(0, 0);
  begun_and(100);
  EXPECT_THAT(told_, ElementsAre(HasSubstr(": 5 s"), HasSubstr(": 20 s"), HasSubstr(": 80 s")));
  EXPECT_THAT(failures(), IsEmpty()) << "0 is without limit";
}

TEST_F(JoinWatch, FailsThoseThatWaitAtTheirLimitAndNamesWhoIsMissing) {
  arrives(0, 120'000);
  begun_and(60);
  arrives(1, 120'000);
  ticks(59);
  EXPECT_THAT(failures(), IsEmpty());
  ticks(1);
  EXPECT_THAT(failures(),
              AllOf(SizeIs(2), testing::Each(AllOf(HasSubstr("120 s"), HasSubstr("rank 2 (host "),
                                                   HasSubstr("process 102"),
                                                   HasSubstr("HEDDLE_JOIN_TIMEOUT_MS")))));
}

TEST_F(JoinWatch, ALimitIsRoundedUpToSeconds) {
  arrives(0, 1001);
  begun_and(1);
  EXPECT_THAT(failures(), IsEmpty());
  ticks(1);
  EXPECT_THAT(failures(), SizeIs(1));
}

TEST_F(JoinWatch, ASecondThatHadBegunBeforeIsNotCounted) {
  arrives(0, 1000);
  ticks(1);
  EXPECT_THAT(failures(), IsEmpty()) << "the last rank may have started a moment ago";
  ticks(1);
  EXPECT_THAT(failures(), SizeIs(1));
}

TEST_F(JoinWatch, EachMeetingHasTheWholeLimit) {
  for (const int rank : {0, 1}) arrives(rank, 3000);
  begun_and(2);
  arrives(2, 3000);
  for (const auto& reply : meetings_.take_replies()) watch_.set_waiting(reply.rank, false);
  for (const int rank : {0, 1}) calls(rank);
  begun_and(2);
  EXPECT_THAT(failures(), IsEmpty());
  ticks(1);
  EXPECT_THAT(failures(), SizeIs(2));
}

TEST_F(JoinWatch, WhoHasJoinedWaitsForAsLongAsItTakesAndInSilence) {
  watch_.begin(0, 0, 1000);
  watch_.end(0);
  calls(0);
  EXPECT_FALSE(watch_.somebody_waits());
  ticks(1000);
  EXPECT_THAT(failures(), IsEmpty());
  EXPECT_THAT(told_, IsEmpty());
}

TEST_F(JoinWatchOfMany, OfManyMissingAFewAreNamedAndTheRestCounted) {
  arrives(0, 0);
  begun_and(5);
  EXPECT_THAT(told_, ElementsAre(AllOf(HasSubstr("rank 4 ("), HasSubstr(" and 95 more"),
                                       Not(HasSubstr("rank 5 (")))));
}

}  // namespace
}  // namespace heddle::tools
