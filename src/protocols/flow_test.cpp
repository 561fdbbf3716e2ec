// SPDX-License-Identifier: BSD-3-Clause
// flow_test.cpp - credit that goes back and comes, and messages that wait for some.
#include "protocols/flow.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "backends/faults/scripted_endpoint.h"
#include "support/lone_path.h"

namespace heddle::protocols {
namespace {

class Flow : public testing::Test {
 protected:
  static constexpr std::uint64_t limit = 160, portion = 40;
  static constexpr std::uint64_t an_hour_ns = 3'600'000'000'000;

  Flow() {
    peer_.number = 1;
    peer_.wire = {&endpoint_, wire_.reach(1)};
    peer_.credit.open(limit, portion);
    lone_.kinds[index_of(message_kind::credit)] = &flow_;
  }
  void receive_credit(std::uint64_t bytes) {
    message m;
    m.kind = message_kind::credit;
    m.word = bytes;
    flow_.on_message(peer_, m);
  }
  /// The bytes of each message of credit that has left.
  std::vector<std::uint64_t> given() {
    std::vector<std::uint64_t> all;
    for (const auto& bytes : wire_.messages) {
      const transport::message_head head = read_head(bytes);
      const transport::message_head expected = head_of(message_kind::credit, 0, 0, 0, 0, 0);
      EXPECT_EQ(head.first, expected.first);
      all.push_back(head.word);
    }
    return all;
  }

  transport::script wire_;
  transport::scripted_endpoint endpoint_{wire_};
  test::lone_path lone_{4};
  flow flow_{lone_.path, an_hour_ns};
  peer peer_;
};

using amounts = std::vector<std::uint64_t>;

TEST_F(Flow, GivesBackManyMessagesCreditByOne) {
  flow_.repay(peer_, portion - 1);
  EXPECT_EQ(given(), amounts{});
  flow_.repay(peer_, 1);
  EXPECT_EQ(given(), amounts{portion});
  flow_.repay(peer_, portion - 1);
  EXPECT_EQ(given(), amounts{portion});
}

TEST_F(Flow, SaysThatItReceivesWhatTookNoCredit) {
  flow_.tell_taken(peer_, portion - 1);
  EXPECT_EQ(given(), amounts{});
  flow_.tell_taken(peer_, 1);
  EXPECT_EQ(given(), amounts{0});
}

TEST_F(Flow, GivesALostPeerNothing) {
  peer_.lost = true;
  flow_.repay(peer_, portion);
  flow_.tell_taken(peer_, portion);
  EXPECT_EQ(given(), amounts{});
}

TEST_F(Flow, KeepsCreditThatTheWireDoesNotTake) {
  wire_.room = 0;
  flow_.repay(peer_, portion);
  EXPECT_EQ(given(), amounts{});
  EXPECT_TRUE(lone_.path.blocked());
  wire_.room = 1;
  lone_.path.flush_for_rest();
  EXPECT_EQ(given(), amounts{portion});
}

TEST_F(Flow, TakesCreditThatComes) {
  peer_.credit.take(100);
  receive_credit(60);
  EXPECT_EQ(peer_.credit.left(), limit - 40);
  EXPECT_TRUE(lone_.losses.lost.empty());
}

TEST_F(Flow, LosesAPeerThatGivesMoreThanWasTaken) {
  peer_.credit.take(100);
  receive_credit(101);
  ASSERT_EQ(lone_.losses.lost.size(), 1u);
  EXPECT_EQ(lone_.losses.lost[0].first, &peer_);
  EXPECT_EQ(peer_.credit.left(), limit - 100);
}

TEST_F(Flow, LetsAMessageWaitForCreditThatMayCome) {
  EXPECT_FALSE(flow_.is_awaited());
  EXPECT_TRUE(flow_.waits(peer_, limit - portion));
  EXPECT_TRUE(flow_.is_awaited());
  flow_.new_look();
  EXPECT_FALSE(flow_.is_awaited());
}

TEST_F(Flow, LetsNoMessageWaitForCreditThatItsReceiverKeepsToItself) {
  EXPECT_FALSE(flow_.waits(peer_, limit - portion + 1));
  EXPECT_FALSE(flow_.is_awaited());
}

TEST_F(Flow, LetsNoMessageWaitWithoutPatience) {
  flow hasty(lone_.path, 0);
  receive_credit(0);
  EXPECT_FALSE(hasty.waits(peer_, 1));
}

TEST_F(Flow, LetsAMessageWaitNoLongerThanItsPatience) {
  flow hasty(lone_.path, 1);
  (void)hasty.waits(peer_, 1);  // from now on it waits
  while (hasty.waits(peer_, 1)) {
  }
  EXPECT_TRUE(flow_.waits(peer_, 1)) << "another has more";
}

}  // namespace
}  // namespace heddle::protocols
