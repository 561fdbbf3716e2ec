// SPDX-License-Identifier: BSD-3-Clause
// shm_test.cpp - messages, sleeping and waking, several ranks in one process.
#include <sys/stat.h>

#include <algorithm>
#include <numeric>

#include "backends/shm/test_rank.h"

namespace heddle::transport::shm {
namespace {

using strings = std::vector<std::string>;

bool is_readable_now(int fd) {
  pollfd wait{fd, POLLIN, 0};
  return ::poll(&wait, 1, 0) == 1;
}

TEST(Shm, DeliversInOrderToItselfAndToOthers) {
  auto ranks = test_ranks(2);
  for (const rank to : {0, 1}) {
    for (const char* text :
         {"a", "", "a longer one that needs more than a single cache line ......"}) {
      ASSERT_EQ(ranks[0]->send(to, text), status::done);
    }
    auto& receiver = *ranks[static_cast<std::size_t>(to)];
    receiver.poll();
    EXPECT_EQ(receiver.got, (strings{"a", "",
                                     "a longer one that needs more than a single cache "
                                     "line ......"}));
    EXPECT_EQ(receiver.from, (std::vector<rank>{0, 0, 0}));
  }
}

TEST(Shm, TellsTheSendersApart) {
  auto ranks = test_ranks(4);
  for (const rank from : {3, 1, 2}) {
    ASSERT_EQ(ranks[static_cast<std::size_t>(from)]->send(0, std::to_string(from)), status::done);
  }
  while (ranks[0]->poll() != 0) {
  }
  std::sort(ranks[0]->got.begin(), ranks[0]->got.end());
  EXPECT_EQ(ranks[0]->got, (strings{"1", "2", "3"}));
}

TEST(Shm, KnowsAPeerThatWaitsAwakeOnTheSameCore) {
  auto ranks = test_ranks(2);
  ASSERT_EQ(ranks[0]->send(1, "x"), status::done);
  ASSERT_EQ(ranks[1]->send(0, "x"), status::done);
  EXPECT_FALSE(ranks[0]->lane->shares_core(3)) << "the peer has not waited yet";
  EXPECT_TRUE(ranks[1]->lane->shares_core(3));
  EXPECT_FALSE(ranks[1]->lane->shares_core(4));
  EXPECT_FALSE(ranks[0]->lane->shares_core(3)) << "it is on another core now";
  while (ranks[0]->poll() != 0) {
  }
  ASSERT_TRUE(ranks[0]->lane->arm());
  EXPECT_FALSE(ranks[1]->lane->shares_core(3)) << "who sleeps needs no core";
}

TEST(Shm, DoesNotTakeItselfForAPeer) {
  auto ranks = test_ranks(1);
  ASSERT_EQ(ranks[0]->send(0, "x"), status::done);
  EXPECT_FALSE(ranks[0]->lane->shares_core(3));
}

TEST(Shm, KeepsLanesApart) {
  auto ranks = test_ranks(2);
  auto other_lane = ranks[0]->dev->make_endpoint(5);
  ASSERT_EQ(ranks[1]->send(0, "lane 0"), status::done);
  std::array<event, 4> out;
  EXPECT_EQ(other_lane->poll(out), 0u);
  ranks[0]->poll();
  EXPECT_EQ(ranks[0]->got, strings{"lane 0"});
}

TEST(Shm, AsksForALaneThatAPeerTalksToAndDeliversOnceItExists) {
  auto ranks = test_ranks(2);
  EXPECT_EQ(ranks[0]->dev->serve(), -1);
  EXPECT_FALSE(is_readable_now(ranks[0]->dev->fd()));
  ranks[1]->open_lane(7);
  ASSERT_EQ(ranks[1]->send(0, "first"), status::done);
  EXPECT_TRUE(is_readable_now(ranks[0]->dev->fd()));
  EXPECT_EQ(ranks[0]->dev->serve(), 7);
  EXPECT_EQ(ranks[0]->dev->serve(), -1);
  EXPECT_FALSE(is_readable_now(ranks[0]->dev->fd()));
  ranks[0]->open_lane(7);
  ranks[0]->poll();
  EXPECT_EQ(ranks[0]->got, strings{"first"});
}

TEST(Shm, RefusesAMessageThatIsTooLargeAndARankItDoesNotKnow) {
  auto ranks = test_ranks(1);
  const std::size_t most = ranks[0]->dev->describe().max_message - sizeof(message_head);
  EXPECT_EQ(ranks[0]->send(0, std::string(most, 'x')), status::done);
  EXPECT_EQ(ranks[0]->send(0, std::string(most + 1, 'x')), status::invalid);
  for (const rank stranger : {1, -1, 1 << 30}) {
    EXPECT_EQ(ranks[0]->send(stranger, "x"), status::invalid);
  }
}

TEST(Shm, AnswersBusyWhenTheRingIsFullAndTakesMoreAfterTheReceiverPolled) {
  auto ranks = test_ranks(2);
  int sent = 0;
  while (ranks[1]->send(0, std::to_string(sent)) == status::done) ++sent;
  EXPECT_EQ(ranks[1]->send(0, "x"), status::busy_queue);
  EXPECT_GT(sent, 32);
  EXPECT_TRUE(ranks[0]->poll(1) == 1);
  EXPECT_EQ(ranks[1]->send(0, "x"), status::busy_queue);  // the event's bytes are still in use
  ranks[0]->poll(1);
  EXPECT_EQ(ranks[1]->send(0, "more"), status::done);
  while (ranks[0]->poll() != 0) {
  }
  ASSERT_EQ(ranks[0]->got.size(), static_cast<std::size_t>(sent) + 1);
  for (int i = 0; i < sent; ++i)
    EXPECT_EQ(ranks[0]->got[static_cast<std::size_t>(i)], std::to_string(i));
  EXPECT_EQ(ranks[0]->got.back(), "more");
}

blkcnt_t blocks_of(const test_rank& of) {
  address_blob blob;
  std::memcpy(&blob, of.dev->address().data(), sizeof blob);
  struct stat about {};
  EXPECT_EQ(fstat(blob.segment_fd, &about), 0);
  return about.st_blocks;
}

TEST(Shm, TouchesNoBoardOfALaneThatNobodyWants) {
  auto ranks = test_ranks(1);
  const auto before = blocks_of(*ranks[0]);
  EXPECT_EQ(ranks[0]->dev->serve(), -1);
  EXPECT_EQ(blocks_of(*ranks[0]), before);
}

TEST(Shm, AcceptsThePrefixThatFits) {
  auto ranks = test_ranks(2);
  std::vector<op> ops(200);
  for (op& each : ops) each.to = ranks[1]->lane->reach(0, 0);
  std::vector<op*> all;
  for (op& each : ops) all.push_back(&each);
  const post_result result = ranks[1]->lane->post(all);
  EXPECT_EQ(result.reason, status::busy_queue);
  ASSERT_LT(result.accepted, ops.size());
  for (std::size_t i = 0; i < ops.size(); ++i) {
    EXPECT_EQ(ops[i].over, i < result.accepted);
  }
}

TEST(Shm, LetsNoSenderStarveTheOthers) {
  auto ranks = test_ranks(3);
  for (const std::size_t from : {1u, 2u}) {
    while (ranks[from]->send(0, std::to_string(from)) == status::done) {
    }
  }
  for (int i = 0; i < 8; ++i) ranks[0]->poll(4);
  EXPECT_EQ(std::count(ranks[0]->got.begin(), ranks[0]->got.end(), "1"), 16);
  EXPECT_EQ(std::count(ranks[0]->got.begin(), ranks[0]->got.end(), "2"), 16);
}

TEST(Shm, IsIdleOnceTheReceiverHasMappedTheRing) {
  auto ranks = test_ranks(2);
  EXPECT_TRUE(ranks[1]->lane->idle());
  ASSERT_EQ(ranks[1]->send(0, "x"), status::done);
  EXPECT_FALSE(ranks[1]->lane->idle());
  ranks[0]->poll();
  EXPECT_TRUE(ranks[1]->lane->idle());
}

TEST(ShmSleep, RefusesToSleepOnWorkAndRingsOnlyASleeper) {
  auto ranks = test_ranks(2);
  ASSERT_EQ(ranks[1]->send(0, "x"), status::done);
  EXPECT_FALSE(is_readable_now(ranks[0]->lane->fd()));  // awake: nobody rings
  EXPECT_FALSE(ranks[0]->lane->arm());
  ASSERT_EQ(ranks[0]->poll(), 1u);
  EXPECT_FALSE(ranks[0]->lane->arm());  // the message's lines are not given back yet
  ASSERT_EQ(ranks[0]->poll(), 0u);
  ASSERT_TRUE(ranks[0]->lane->arm());
  EXPECT_FALSE(is_readable_now(ranks[0]->lane->fd()));
  ASSERT_EQ(ranks[1]->send(0, "y"), status::done);
  EXPECT_TRUE(is_readable_now(ranks[0]->lane->fd()));
  ranks[0]->lane->maintain();
  EXPECT_TRUE(is_readable_now(ranks[0]->lane->fd()));  // maintain() steals no wake-up
  ASSERT_EQ(ranks[0]->poll(), 1u);
  EXPECT_FALSE(is_readable_now(ranks[0]->lane->fd()));
}

TEST(ShmSleep, RingsForTheFirstMessageOfANewSender) {
  auto ranks = test_ranks(2);
  ASSERT_TRUE(ranks[0]->lane->arm());
  ASSERT_EQ(ranks[1]->send(0, "x"), status::done);
  EXPECT_TRUE(is_readable_now(ranks[0]->lane->fd()));
}

TEST(ShmSleep, RingsABlockedSenderWhenThereIsRoom) {
  auto ranks = test_ranks(2);
  while (ranks[1]->send(0, "x") == status::done) {
  }
  ranks[1]->poll();
  ASSERT_TRUE(ranks[1]->lane->arm());
  ranks[0]->poll(1);
  EXPECT_FALSE(is_readable_now(ranks[1]->lane->fd()));
  ranks[0]->poll(1);
  EXPECT_TRUE(is_readable_now(ranks[1]->lane->fd()));
  ranks[1]->poll();
  EXPECT_EQ(ranks[1]->send(0, "x"), status::done);
}

TEST(ShmSleep, RefusesToSleepABlockedSenderForWhichThereIsRoom) {
  auto ranks = test_ranks(2);
  while (ranks[1]->send(0, "x") == status::done) {
  }
  ranks[0]->poll();
  ranks[0]->poll(1);
  EXPECT_FALSE(ranks[1]->lane->arm());
  EXPECT_TRUE(ranks[1]->lane->arm());  // said once; a second post was not tried
}

TEST(ShmSleep, AnnouncesItselfToALaneWhosePeerBecomesKnownLater) {
  test_rank a(0), b(1);
  ASSERT_EQ(b.dev->add_peer(0, a.dev->address(), true), "");
  a.open_lane();
  b.open_lane();
  ASSERT_EQ(b.send(0, "early"), status::done);
  ASSERT_EQ(a.poll(), 0u);
  ASSERT_TRUE(a.lane->arm());
  ASSERT_EQ(a.dev->add_peer(1, b.dev->address(), true), "");
  EXPECT_TRUE(a.sleep());
  EXPECT_EQ(a.got, strings{"early"});
}

/// Sends 1 .. total as text, sleeping whenever the ring is full.
void send_numbers(test_rank& from, rank to, int total) {
  for (int i = 1; i <= total;) {
    if (from.send(to, std::to_string(i)) == status::done) {
      ++i;
      continue;
    }
    from.poll();
    if (!from.lane->arm()) continue;
    pollfd wait{from.lane->fd(), POLLIN, 0};
    ASSERT_EQ(::poll(&wait, 1, 10'000), 1) << "nobody rang a blocked sender";
  }
}

TEST(ShmSleep, LosesNoWakeUpWhileTwoSendersFloodASleepyReceiver) {
  constexpr int total = 20'000;
  auto ranks = test_ranks(3);
  std::thread one([&] { send_numbers(*ranks[1], 0, total); });
  std::thread two([&] { send_numbers(*ranks[2], 0, total); });
  while (ranks[0]->got.size() < 2 * total && ranks[0]->sleep()) {
  }
  one.join();
  two.join();
  ASSERT_EQ(ranks[0]->got.size(), 2u * total);
  std::array<int, 3> next{0, 1, 1};
  for (std::size_t i = 0; i < ranks[0]->got.size(); ++i) {
    int& expected = next.at(static_cast<std::size_t>(ranks[0]->from[i]));
    ASSERT_EQ(ranks[0]->got[i], std::to_string(expected++));
  }
}

TEST(ShmSleep, LosesNoWakeUpInAPingPongOfSleepers) {
  constexpr std::size_t rounds = 5'000;
  auto ranks = test_ranks(2);
  std::thread answering([&] {
    for (std::size_t i = 0; i < rounds && ranks[1]->sleep(); ++i) {
      ASSERT_EQ(ranks[1]->send(0, "pong"), status::done);
    }
  });
  std::size_t done = 0;
  while (done < rounds && ranks[0]->send(1, "ping") == status::done && ranks[0]->sleep()) ++done;
  answering.join();
  EXPECT_EQ(done, rounds);
}

TEST(ShmDrop, TakesAndSendsNothingMore) {
  auto ranks = test_ranks(3);
  ASSERT_EQ(ranks[1]->send(0, "x"), status::done);
  ASSERT_EQ(ranks[0]->poll(), 1u);
  ASSERT_EQ(ranks[1]->send(0, "y"), status::done);
  ranks[0]->drop(1);
  EXPECT_EQ(ranks[0]->poll(), 0u);
  EXPECT_EQ(ranks[0]->poll(), 0u);
  EXPECT_EQ(ranks[0]->send(1, "x"), status::peer_lost);
  EXPECT_TRUE(ranks[0]->lane->arm());
  EXPECT_EQ(ranks[0]->send(2, "x"), status::done);
  ranks[0]->drop(2);
  ranks[0]->drop(2);
  EXPECT_EQ(ranks[0]->lane->reach(77, 0), nullptr);
  EXPECT_EQ(ranks[0]->poll(), 0u);
  EXPECT_TRUE(ranks[0]->lane->idle());
}

TEST(ShmDrop, ForgetsThatItWasBlocked) {
  auto ranks = test_ranks(2);
  while (ranks[1]->send(0, "x") == status::done) {
  }
  ranks[1]->drop(0);
  EXPECT_TRUE(ranks[1]->lane->arm());
  EXPECT_EQ(ranks[1]->poll(), 0u);
  EXPECT_TRUE(ranks[1]->lane->arm());
  EXPECT_EQ(ranks[1]->send(0, "x"), status::peer_lost);
}

TEST(ShmHangUp, IsReportedAfterWhatWasSentAndWakesASleeper) {
  auto ranks = test_ranks(2);
  ASSERT_EQ(ranks[1]->send(0, "one"), status::done);
  ranks[0]->poll();
  ranks[0]->poll();
  ASSERT_TRUE(ranks[0]->lane->arm());
  ASSERT_EQ(ranks[1]->send(0, "two"), status::done);
  ranks[1].reset();
  EXPECT_TRUE(is_readable_now(ranks[0]->lane->fd()));
  ranks[0]->poll(1);
  EXPECT_EQ(ranks[0]->got, (strings{"one", "two"}));
  EXPECT_TRUE(ranks[0]->lost.empty());
  EXPECT_FALSE(ranks[0]->lane->arm());
  ranks[0]->poll();
  EXPECT_EQ(ranks[0]->lost, std::vector<rank>{1});
  EXPECT_EQ(ranks[0]->send(1, "x"), status::peer_lost);
  EXPECT_EQ(ranks[0]->poll(), 0u);
  EXPECT_TRUE(ranks[0]->lane->arm());
}

TEST(ShmHangUp, IsFoundByMaintain) {
  auto ranks = test_ranks(2);
  ASSERT_EQ(ranks[0]->send(1, "x"), status::done);
  ranks[1].reset();
  ranks[0]->lane->maintain();
  ranks[0]->poll();
  EXPECT_EQ(ranks[0]->lost, std::vector<rank>{1});
}

TEST(ShmSettings, RefusesARingThatIsNoPowerOfTwo) {
  for (const std::size_t bytes : {0u, 2048u, 5000u}) {
    settings config;
    config.others["HEDDLE_SHM_RING_BYTES"] = std::to_string(bytes);
    EXPECT_THROW(test_rank(0, config), error);
  }
}

TEST(ShmSettings, GivesEachLaneNumberOnce) {
  test_rank only(0);
  only.open_lane(3);
  EXPECT_THROW((void)only.dev->make_endpoint(3), error);
  EXPECT_THROW((void)only.dev->make_endpoint(-1), error);
  EXPECT_THROW((void)only.dev->make_endpoint(max_lanes), error);
}

}  // namespace
}  // namespace heddle::transport::shm
