// SPDX-License-Identifier: BSD-3-Clause
// failures_test.cpp - what becomes of operations when the card, its port or its resources fail.
// Each test runs on a software device of its own, in a process of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <softhca.h>

#include <chrono>
#include <thread>

#include "backends/verbs/handles.h"
#include "support/ranks_on_softhca.h"

namespace heddle::test {
namespace {

using transport::verbs::handle;

/// A hand on the cables of the first device.
class cables {
 public:
  cables() {
    ibv_device** const all = ibv_get_device_list(nullptr);
    device_.reset(ibv_open_device(all[0]));
    ibv_free_device_list(all);
  }
  void pull(unsigned port) { EXPECT_EQ(softhca_set_port(device_.get(), port, 0), 0); }
  void plug(unsigned port) { EXPECT_EQ(softhca_set_port(device_.get(), port, 1), 0); }
  void remove_the_card() { softhca_remove_device(device_.get()); }

 private:
  handle<ibv_context> device_;
};

TEST(VerbsPort, KeepsItsPeersWhenTheCableIsBackInTime) {
  in_own_process({{"HEDDLE_VERBS_TIMEOUT", "20"}}, [] {  // half a minute
    verbs_ranks ranks(2);
    cables hand;
    port& from = ranks.job[1].lane();
    hand.pull(1);
    auto ops = ranks.puts(10);
    ops.push_back(send_op(0, ranks.data(100)));
    ASSERT_TRUE(ranks.job.post_all(from, ops));
    ranks.job.settle();
    EXPECT_EQ(from.in_flight(), 10u);
    EXPECT_FALSE(from.lost(0));
    hand.plug(1);
    ASSERT_TRUE(ranks.job.until([&] { return from.in_flight() == 0 && !ranks.inbox().empty(); }));
    EXPECT_EQ(from.ended_with(status::done), from.ended());
    EXPECT_FALSE(from.lost(0));
  });
}

TEST(VerbsPort, ConnectsToPeersWhenTheCableIsBack) {
  in_own_process({}, [] {
    group job(over_verbs(), 2);
    cables hand;
    hand.pull(1);
    const auto data = pattern(20, 1);
    std::vector hello{send_op(0, data)};
    EXPECT_EQ(job[1].lane().post(hello).reason, status::busy_queue);
    job.settle();
    hand.plug(1);
    EXPECT_TRUE(job.run(job[1].lane(), hello));
    EXPECT_TRUE(job.until([&] { return job[0].lane().inbox.size() == 1; }));
  });
}

TEST(VerbsConnections, WaitForAPeerThatComputesBeforeItReadsItsAnswer) {
  in_own_process({{"HEDDLE_VERBS_TIMEOUT", "8"}}, [] {  // 8 ms
    group job(over_verbs(), 2);
    port &from = job[1].lane(), &to = job[0].lane();
    const auto data = pattern(20, 1);
    std::vector hello{send_op(0, data)};
    EXPECT_EQ(from.post(hello).reason, status::busy_queue);
    for (int ms = 0; ms < 50; ++ms) {
      (void)job[0].pump();
      job[0].maintain();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_FALSE(to.lost(1));
    EXPECT_TRUE(job.run(from, hello));
    EXPECT_TRUE(job.until([&] { return to.inbox.size() == 1; }));
  });
}

TEST(VerbsPort, LosesItsPeersWhenTheCableStaysOut) {
  in_own_process({{"HEDDLE_VERBS_TIMEOUT", "8"}}, [] {
    verbs_ranks ranks(2);
    cables hand;
    port& from = ranks.job[1].lane();
    auto ops = ranks.puts(10);
    hand.pull(1);
    ASSERT_TRUE(ranks.job.post_all(from, ops));
    const auto before = from.ended();
    ASSERT_TRUE(ranks.job.until([&] { return from.in_flight() == 0 && from.lost(0); }));
    EXPECT_EQ(from.ended(), before + 10);
    EXPECT_EQ(from.ended_with(status::peer_lost), 10u) << "none of them reached it";
    EXPECT_TRUE(ranks.job.until([&] { return ranks.job[0].lane().lost(1); }))
        << "it waits for nothing, and is told all the same";
  });
}

TEST(VerbsPort, IsNotConcernedByTheNeighboursCable) {
  in_own_process({{"SOFTHCA_PORTS", "2"}, {"HEDDLE_VERBS_DEVICES", "softhca0:1"}}, [] {
    verbs_ranks ranks(2);
    cables hand;
    hand.pull(2);
    ranks.job.settle();
    auto ops = ranks.puts(100);
    EXPECT_TRUE(ranks.job.run(ranks.job[1].lane(), ops));
    EXPECT_FALSE(ranks.job[1].lane().lost(0));
    EXPECT_FALSE(ranks.job[0].lane().lost(1));
  });
}

TEST(VerbsDevice, LosesAllPeersAndEndsEachOperationOnceWhenItsCardIsTakenAway) {
  in_own_process({{"HEDDLE_VERBS_TIMEOUT", "20"}}, [] {  // nobody waits for these 30 seconds
    verbs_ranks ranks(3);
    cables hand;
    port& from = ranks.job[1].lane();
    hand.pull(1);
    auto ops = ranks.puts(10);
    ASSERT_TRUE(ranks.job.post_all(from, ops));
    const auto before = from.ended();
    hand.remove_the_card();
    ASSERT_TRUE(ranks.job.until([&] { return from.in_flight() == 0 && from.lost(0); }));
    EXPECT_EQ(from.ended(), before + 10);
    EXPECT_EQ(from.ended_with(status::peer_lost), 10u);
    std::vector late{send_op(0, ranks.data(100))};
    EXPECT_EQ(from.post(late).reason, status::peer_lost);
    for (const rank r : {1, 2})
      EXPECT_TRUE(ranks.job.until([&] { return ranks.job[0].lane().lost(r); }));
  });
}

TEST(VerbsQueues, EndEveryOperationOnceWhenTheCompletionQueueIsOverrun) {
  // Fewer than the eight that are told of before posts gather into lists.
  in_own_process({{"SOFTHCA_CQES", "6"}}, [] {
    verbs_ranks ranks(3);
    port& from = ranks.job[1].lane();
    auto ops = ranks.puts(60);
    for (op& one : ops) (void)from.post(std::span(&one, 1));  // nobody polls meanwhile
    ASSERT_TRUE(ranks.job.until([&] { return from.in_flight() == 0 && from.lost(0); }));
    EXPECT_EQ(from.ended_with(status::done) + from.ended_with(status::peer_lost), from.ended());
    EXPECT_GT(from.ended_with(status::peer_lost), 0u);
    auto others = ranks.puts(20);
    EXPECT_TRUE(ranks.job.run(ranks.job[2].lane(), others)) << "the others go on";
    EXPECT_FALSE(ranks.job[2].lane().lost(0));
  });
}

TEST(VerbsQueues, LoseNoMessageWhenManySendersUseUpTheReceives) {
  in_own_process({{"HEDDLE_VERBS_RECEIVES", "64"}}, [] {
    constexpr int senders = 5;
    constexpr std::size_t each = 100;
    verbs_ranks ranks(1 + senders);
    const std::vector<op> all(each, send_op(0, ranks.data(500)));
    std::vector<std::vector<op>> ops(senders, all);
    std::vector<std::span<op>> rest(ops.begin(), ops.end());
    for (int turn = 0; turn < 200; ++turn)  // rank 0 takes nothing: 32 of each fit its windows
      for (rank r = 1; r <= senders; ++r) {
        auto& mine = rest[static_cast<std::size_t>(r - 1)];
        mine = mine.subspan(ranks.job[r].lane().post(mine).accepted);
        (void)ranks.job[r].pump();
      }
    for (rank r = 1; r <= senders; ++r)
      ASSERT_TRUE(ranks.job.post_all(ranks.job[r].lane(), rest[static_cast<std::size_t>(r - 1)]));
    ASSERT_TRUE(ranks.job.until([&] { return ranks.inbox().size() == senders * each; }));
    for (const received& m : ranks.inbox()) EXPECT_TRUE(is_pattern(m.bytes, 1));
  });
}

TEST(VerbsLanes, ShareADoorbellWhenTheCardHasNoneLeft) {
  in_own_process({{"SOFTHCA_THREAD_DOMAINS", "1"}}, [] {
    verbs_ranks ranks(2);
    EXPECT_THAT(ranks.job[1].device().details(), testing::Not(testing::HasSubstr("doorbell")));
    for (const int lane : {1, 2}) {
      auto ops = ranks.puts(50);
      for (op& one : ops) one.whom = {0, lane};
      EXPECT_TRUE(ranks.job.run(ranks.job[1].lane(lane), ops));
    }
    EXPECT_THAT(ranks.job[1].device().details(), testing::HasSubstr("2 lanes share a doorbell"));
  });
}

constexpr knob little_locked{"SOFTHCA_LOCKED", "12000000"};

TEST(VerbsMemory, IsBroughtInOnDemandWhereNoMoreMayBeLocked) {
  in_own_process({little_locked, {"SOFTHCA_ODP", "on"}}, [] {
    verbs_ranks ranks(2);
    std::vector ops{put_op(0, ranks.memory, 4096, ranks.data(2 << 20)),
                    atomic_operation(0, ranks.memory, 0, atomic_op::add, 8, 1)};
    ASSERT_TRUE(ranks.job.run(ranks.job[1].lane(), ops));
    EXPECT_EQ(ranks.job[1].lane().outcome(ops[0].number), status::done);
    EXPECT_EQ(ranks.job[1].lane().outcome(ops[1].number), status::done);
    EXPECT_THAT(ranks.job[0].device().details(), testing::Not(testing::HasSubstr("registered")));
  });
}

TEST(VerbsMemory, IsReachedByMessagesWhereTheCardNeedsItLocked) {
  in_own_process({little_locked}, [] {
    group job(over_verbs(), 2);
    const auto region = job[0].allocate(16 << 20).ref;
    const auto data = pattern(8, 1);
    std::vector ops{put_op(0, region, 0, data)};
    ASSERT_TRUE(job.until([&] { return job[1].lane().post(ops).accepted == 1; }));
    EXPECT_EQ(job[1].lane().outcome(ops[0].number), status::unsupported);
    EXPECT_THAT(job[0].device().details(), testing::HasSubstr("1 regions so far"));
  });
}

}  // namespace
}  // namespace heddle::test
