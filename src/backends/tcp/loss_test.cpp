// SPDX-License-Identifier: BSD-3-Clause
// loss_test.cpp - peers that end, die, hang or are dropped: every op ends, everybody else goes on.
#include <poll.h>

#include <algorithm>
#include <thread>

#include "backends/tcp/raw_client.h"

namespace heddle::transport::tcp {
namespace {

using bytes = std::vector<std::byte>;

void connect(test_job& job, std::size_t from, rank to) {
  const auto text = pattern(1);
  test_op o = send_op(to, text);
  ASSERT_EQ(job.post(from, o), status::done);
  auto& there = job[static_cast<std::size_t>(to)].messages;
  ASSERT_TRUE(job.until([&] { return !there.empty(); }));
  there.clear();
}

void kill(test_node& n) {
  n.lane.reset();
  n.dev.reset();
}

TEST(TcpLoss, EndsEveryOpInFlightOnceAndThenRefuses) {
  test_job job(3);
  bytes memory(16 * 1024 * 1024), mine(memory.size()), small(8);
  const memory::region_ref ref = job[1].regions.add(memory, rights::all).ref;
  connect(job, 0, 1);
  connect(job, 0, 2);
  std::vector<test_op> ops{put_op(1, ref, 0, mine), get_op(1, ref, 0, mine),
                           put_op(1, ref, 0, small), get_op(1, ref, 0, small),
                           atomic_at(1, ref, 0, 1)};
  for (std::size_t i = 0; i < ops.size(); ++i) ops[i].number = i + 1;
  ASSERT_EQ(job[0].post(ops).accepted, ops.size());
  kill(job[1]);
  ASSERT_TRUE(job.until([&] { return job[0].lost == std::vector<rank>{1}; }));
  EXPECT_EQ(job[0].ended.size(), ops.size());
  for (const auto& [number, code] : job[0].ended) EXPECT_EQ(code, status::peer_lost) << number;
  test_op more = send_op(1, small);
  EXPECT_EQ(job.post(0, more), status::peer_lost);
  test_op other = send_op(2, small);
  EXPECT_EQ(job.post(0, other), status::done);
  ASSERT_TRUE(job.until([&] { return job[2].messages.size() == 1; }));
}

TEST(TcpLoss, DeliversWhatHadArrivedBeforeReportingTheLoss) {
  test_job job(2);
  connect(job, 0, 1);
  const auto text = pattern(1000);
  for (int i = 0; i < 2000; ++i) {
    test_op o = send_op(0, text);
    while (job[1].post(std::span(&o, 1)).accepted == 0) job.pump();
  }
  while (!job[1].lane->idle()) job.pump();
  kill(job[1]);
  ASSERT_TRUE(job.until([&] { return !job[0].lost.empty(); }));
  EXPECT_EQ(job[0].messages.size(), 2000u);
}

TEST(TcpLoss, DeliversWhatHadArrivedEvenAfterWritingFailed) {
  test_job job(2);
  job.nodes.pop_back();
  raw_client c(job[0]);
  ASSERT_TRUE(c.introduce(job, 1, 0));
  ASSERT_TRUE(job.until([&] {  // until the connection was taken over
    const auto text = pattern(10);
    test_op o = send_op(1, text);
    return job[0].post(std::span(&o, 1)).accepted == 1;
  }));
  bytes messages(8 * 100);
  for (std::size_t i = 0; i < 100; ++i) write_message(messages.data() + 8 * i, 0);
  c.say(messages);
  c.end();  // with unread input: our writes are answered by a reset
  const auto text = pattern(10);
  for (int i = 0; i < 100; ++i) {
    test_op o = send_op(1, text);
    (void)job[0].post(std::span(&o, 1));
    (void)job[0].lane->arm();
  }
  ASSERT_TRUE(job.until([&] { return !job[0].lost.empty(); }));
  EXPECT_EQ(job[0].messages.size(), 100u);
}

/// Rank 1 connects to rank 0, whose lane is not open and can therefore not choose the connection.
void connect_to_closed_lane(test_job& job, test_op& o) {
  job[0].lane.reset();
  while (job[0].wanted.empty()) {
    EXPECT_EQ(job[1].post(std::span(&o, 1)).reason, status::busy_queue);
    job[0].serve();
    job[1].poll();
  }
}

TEST(TcpLoss, NoticesAPeerThatDiesBeforeItHasChosenAConnection) {
  test_job job(2);
  const auto text = pattern(10);
  test_op o = send_op(0, text);
  connect_to_closed_lane(job, o);
  kill(job[0]);
  ASSERT_TRUE(job.until([&] { return job[1].lost == std::vector<rank>{0}; }));
}

TEST(TcpLoss, APeerWhoseLaneIsNotOpenYetIsWaitedFor) {
  settings config;
  config.peer_timeout_ms = 1;
  test_job job(2, "lo", config);
  const auto text = pattern(10);
  test_op o = send_op(0, text);
  connect_to_closed_lane(job, o);
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    job[1].lane->maintain();
    job[1].poll();
  }
  EXPECT_TRUE(job[1].lost.empty());
  job[0].lane = job[0].dev->make_endpoint(0);
  ASSERT_EQ(job.post(1, o), status::done);
  ASSERT_TRUE(job.until([&] { return job[0].messages.size() == 1; }));
}

TEST(TcpLoss, AHigherRankNeedNotWaitUntilThePeersLaneIsPolled) {
  test_job job(2);
  const auto text = pattern(10);
  test_op o = send_op(0, text);
  while (job[1].post(std::span(&o, 1)).accepted == 0) {
    job[0].serve();
    job[1].poll();
  }
  ASSERT_TRUE(job.until([&] { return job[0].messages.size() == 1; }));
}

TEST(TcpLoss, RefusedConnectsMeanThePeerIsLost) {
  test_job job(2);
  kill(job[1]);
  const auto text = pattern(10);
  test_op o = send_op(1, text);
  EXPECT_EQ(job.post(0, o), status::peer_lost);
  ASSERT_TRUE(job.until([&] { return job[0].lost == std::vector<rank>{1}; }));
}

TEST(TcpLoss, AnImpostorAtThePeersAddressIsNotBelieved) {
  test_job job(2);
  // Somebody else's device, with another secret, where rank 1 is said to be.
  constexpr std::array<std::byte, 32> other{std::byte{1}};
  const auto impostor = std::make_unique<tcp_device>(context{.self = 1,
                                                             .size = 2,
                                                             .job_secret = other,
                                                             .config = &job[0].config,
                                                             .regions = &job[0].regions},
                                                     choose_rails("lo", list_interfaces()).front());
  ASSERT_EQ(job[0].dev->add_peer(1, impostor->address(), true), "");
  const auto text = pattern(10);
  test_op o = send_op(1, text);
  ASSERT_TRUE(job.until([&] {
    (void)impostor->serve();
    return job[0].post(std::span(&o, 1)).reason == status::peer_lost;
  }));
}

TEST(TcpLoss, DropEndsOpsAtOnceAndTakesNothingMore) {
  test_job job(2);
  bytes memory(64);
  const memory::region_ref ref = job[1].regions.add(memory, rights::all).ref;
  connect(job, 0, 1);
  const auto text = pattern(10);
  test_op back = send_op(0, text);
  ASSERT_EQ(job.post(1, back), status::done);
  test_op put = put_op(1, ref, 0, text);
  put.number = 5;
  ASSERT_EQ(job[0].post(std::span(&put, 1)).accepted, 1u);
  job[0].lane->drop(*job[0].lane->reach(1, 0));
  test_op more = send_op(1, text);
  EXPECT_EQ(job[0].post(std::span(&more, 1)).reason, status::peer_lost);
  ASSERT_TRUE(job.until([&] { return job[0].ended.contains(5); }));
  EXPECT_EQ(job[0].ended[5], status::peer_lost);
  EXPECT_TRUE(job[0].messages.empty());
  ASSERT_TRUE(job.until([&] { return !job[1].lost.empty(); }));
}

TEST(TcpLoss, APeerThatAnswersNothingIsLostAfterTheTimeout) {
  settings config;
  config.peer_timeout_ms = 50;
  test_job job(2, "lo", config);
  bytes memory(64);
  const memory::region_ref ref = job[1].regions.add(memory, rights::all).ref;
  connect(job, 0, 1);
  test_op put = put_op(1, ref, 0, memory);
  put.number = 5;
  ASSERT_EQ(job[0].post(std::span(&put, 1)).accepted, 1u);
  while (!job[0].ended.contains(5)) {  // rank 1 hangs
    job[0].lane->maintain();
    job[0].poll();
    std::this_thread::yield();
  }
  EXPECT_EQ(job[0].ended[5], status::peer_lost);
}

TEST(TcpLoss, WhatCameWhileThisProcessWasStoppedIsReadBeforeThePeerIsCalledSilent) {
  settings config;
  config.peer_timeout_ms = 50;
  test_job job(2, "lo", config);
  bytes memory(64);
  const memory::region_ref ref = job[1].regions.add(memory, rights::all).ref;
  connect(job, 0, 1);
  test_op get = get_op(1, ref, 0, memory);
  get.number = 5;
  ASSERT_EQ(job[0].post(std::span(&get, 1)).accepted, 1u);
  job[0].poll();
  for (int i = 0; i < 2; ++i) job[0].lane->maintain();  // it is known to wait
  for (int i = 0; i < 4; ++i) job[1].poll();            // and is answered
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  job[0].lane->maintain();
  ASSERT_TRUE(job.until([&] { return job[0].ended.contains(5); }));
  EXPECT_EQ(job[0].ended[5], status::done);
  EXPECT_TRUE(job[0].lost.empty());
}

TEST(TcpLoss, AQuietPeerThatOwesNothingIsKept) {
  settings config;
  config.peer_timeout_ms = 1;
  test_job job(2, "lo", config);
  connect(job, 0, 1);
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    job[0].lane->maintain();
    job.pump();
  }
  EXPECT_TRUE(job[0].lost.empty());
}

bool readable(int fd, int timeout_ms) {
  pollfd p{fd, POLLIN, 0};
  return ::poll(&p, 1, timeout_ms) == 1;
}

/// Polls until the endpoint agrees to sleep.
void arm(test_job& job, test_node& n) {
  ASSERT_TRUE(job.until([&] {
    n.serve();
    return n.poll() == 0 && n.lane->arm();
  }));
}

TEST(TcpSleep, WakesForAMessageARoomAndANewConnection) {
  test_job job(2);
  const auto text = pattern(10);
  arm(job, job[1]);
  EXPECT_FALSE(readable(job[1].lane->fd(), 0));
  test_op o = send_op(1, text);
  (void)job[0].post(std::span(&o, 1));  // starts connecting
  ASSERT_TRUE(readable(job[1].dev->fd(), 10'000));
  ASSERT_TRUE(job.until([&] { return job[0].post(std::span(&o, 1)).accepted == 1; }));
  ASSERT_TRUE(job.until([&] { return job[1].messages.size() == 1; }));
  arm(job, job[1]);
  EXPECT_FALSE(readable(job[1].lane->fd(), 0));
  ASSERT_EQ(job[0].post(std::span(&o, 1)).accepted, 1u);
  EXPECT_TRUE(readable(job[1].lane->fd(), 10'000));
}

TEST(TcpSleep, WakesWhenARefusedPostWouldBeTaken) {
  test_job job(2);
  const auto text = pattern(5000);
  connect(job, 0, 1);
  test_op o = send_op(1, text);
  std::size_t sent = 0;
  do {  // until the socket is full too, so that no arm() makes room
    while (job[0].post(std::span(&o, 1)).accepted == 1) ++sent;
  } while (!job[0].lane->arm());
  EXPECT_FALSE(readable(job[0].lane->fd(), 0));
  while (!readable(job[0].lane->fd(), 0)) {
    job[1].serve();
    job[1].poll();
  }
  ASSERT_TRUE(job.until([&] { return job[0].post(std::span(&o, 1)).accepted == 1; }));
  ASSERT_TRUE(job.until([&] { return job[1].messages.size() == sent + 1; }));
}

TEST(TcpSleep, ArmWritesWhatWasGathered) {
  test_job job(2);
  connect(job, 0, 1);
  arm(job, job[0]);
  const auto text = pattern(10);
  for (int i = 0; i < 10; ++i) {
    test_op o = send_op(1, text);
    ASSERT_EQ(job[0].post(std::span(&o, 1)).accepted, 1u);
  }
  EXPECT_FALSE(job[0].lane->idle());
  EXPECT_TRUE(job[0].lane->arm());
  EXPECT_TRUE(job[0].lane->idle());
  while (job[1].messages.size() < 10) job[1].poll();
}

TEST(TcpInterfaces, AnUnknownOneIsAnErrorThatNamesWhatThereIs) {
  for (const char* wrong : {"nosuch0", "lo,nosuch0", "203.0.113.77", "lo,,lo", "::2"}) {
    try {
      test_job::open(0, 1, wrong);
      ADD_FAILURE() << wrong;
    } catch (const error& e) {
      EXPECT_NE(std::string(e.what()).find("127.0.0.1"), std::string::npos) << e.what();
    }
  }
}

}  // namespace
}  // namespace heddle::transport::tcp
