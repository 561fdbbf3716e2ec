// SPDX-License-Identifier: BSD-3-Clause
#include "run/relayed_meetings.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/job_meetings.h"

namespace heddle::tools {
namespace {

using agent_protocol::bytes_of;
using agent_protocol::message;
using agent_protocol::message_kind;
using bootstrap::protocol::frame_kind;
using testing::ElementsAre;
using testing::IsEmpty;

/// Two agents with two ranks each, and the job's meetings that they are relayed to.
class RelayedMeetings : public testing::Test {
 protected:
  event_loop loop_;
  std::vector<std::vector<int>> answered_;  ///< ranks of each delivery
  std::string ended_;                       ///< by which rank, how and why
  job_meetings job_{loop_, 4,
                    [this](const std::vector<meeting_rounds::reply>& replies) {
                      const message m = relayed_meetings::reply_to(replies);
                      std::vector<int> ranks;
                      for (const auto& reply : relayed_meetings::replies_in(m))
                        ranks.push_back(reply.rank);
                      answered_.push_back(ranks);
                    },
                    [this](int rank, int status, const std::string& why) {
                      ended_ = fmt::format("{} {} {}", rank, status, why);
                    },
                    [](const std::string& line) { ADD_FAILURE() << line; }};
  relayed_meetings::sender up_ = [this](const message& m) {
    EXPECT_TRUE(relayed_meetings::apply(m, job_));
  };
  relayed_meetings first_{up_}, second_{up_};
};

TEST_F(RelayedMeetings, AreToldThatARankEndsTheJob) {
  second_.abort(3, 42, "no input");
  EXPECT_EQ(ended_, "3 42 no input");
  EXPECT_FALSE(relayed_meetings::apply({message_kind::abort, {3, 0}}, job_));
  EXPECT_FALSE(relayed_meetings::apply({message_kind::abort, {3, 256}}, job_));
}

TEST_F(RelayedMeetings, TellRanksThatWaitThatOthersAreStillStartedAndAnswerThemLater) {
  for (int rank = 0; rank < 2; ++rank) EXPECT_EQ(first_.join(rank), 0);
  for (int rank = 2; rank < 4; ++rank) EXPECT_EQ(second_.join(rank), 0);
  first_.begin(0, 0, 1000);
  first_.call(0, 0, frame_kind::barrier, {});
  while (answered_.empty()) loop_.run_once();
  EXPECT_THAT(answered_, ElementsAre(ElementsAre(0)));
  first_.call(1, 0, frame_kind::barrier, {});
  for (int rank = 2; rank < 4; ++rank) second_.call(rank, 0, frame_kind::barrier, {});
  EXPECT_THAT(answered_.back(), ElementsAre(0, 1, 2, 3));
}

TEST_F(RelayedMeetings, AreCompleteWhenTheRanksOfAllAgentsHaveCome) {
  for (int rank = 0; rank < 2; ++rank) EXPECT_EQ(first_.join(rank), 0);
  for (int rank = 2; rank < 4; ++rank) EXPECT_EQ(second_.join(rank), 0);
  for (int rank = 0; rank < 2; ++rank) first_.call(rank, 0, frame_kind::exchange, bytes_of("a"));
  second_.call(2, 0, frame_kind::exchange, bytes_of("b"));
  EXPECT_THAT(answered_, IsEmpty());
  second_.call(3, 0, frame_kind::exchange, bytes_of("c"));
  EXPECT_THAT(answered_, ElementsAre(ElementsAre(0, 1, 2, 3)));
}

TEST_F(RelayedMeetings, FailForThoseThatWaitForARankThatHasEnded) {
  first_.call(0, 0, frame_kind::barrier, {});
  second_.end(3, "rank 3 on b exited with status 1");
  EXPECT_THAT(answered_, ElementsAre(ElementsAre(0)));
}

TEST_F(RelayedMeetings, ARankJoinsAgainOnlyAfterItHasLeft) {
  EXPECT_EQ(first_.join(1), 0);
  EXPECT_FALSE(first_.join(1));
  first_.leave(1, 0, "rank 1 has left the job");
  EXPECT_EQ(first_.join(1), 1);
}

TEST_F(RelayedMeetings, WhatMakesNoSenseIsNotApplied) {
  const auto refused = [this](const message& m) { return !relayed_meetings::apply(m, job_); };
  EXPECT_TRUE(refused({message_kind::call, {0, 0, static_cast<int>(frame_kind::leave)}}));
  EXPECT_TRUE(refused({message_kind::call, {0, -1, static_cast<int>(frame_kind::barrier)}}));
  EXPECT_TRUE(refused({message_kind::call,
                       {0, 0, static_cast<int>(frame_kind::exchange)},
                       std::vector<std::byte>(bootstrap::protocol::max_blob_bytes + 1)}));
  EXPECT_TRUE(refused({message_kind::begin, {0, 0, -1}}));
  EXPECT_TRUE(refused({message_kind::signal, {9}}));
  EXPECT_THAT(answered_, IsEmpty());
}

}  // namespace
}  // namespace heddle::tools
