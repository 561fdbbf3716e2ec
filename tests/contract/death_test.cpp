// SPDX-License-Identifier: BSD-3-Clause
// death_test.cpp - a peer dies or is given up: its ops end, once (I7), and everybody else goes on.
#include <poll.h>

#include <chrono>
#include <thread>

#include "contract/contract.h"
#include "support/pattern.h"

namespace heddle::test {
namespace {

using transport::op_kind;
using clock = std::chrono::steady_clock;

settings quick_to_notice() {
  settings config;
  config.peer_timeout_ms = 1000;
  return config;
}

/// Ranks 0, 1 and 2, all connected; 2 is the one that goes.
class Trio {
 public:
  explicit Trio(const contract_case& backend) : job(backend, 3, quick_to_notice()) {
    memory_ = job[2].allocate(1'000'000).ref;
    for (rank from = 0; from < 3; ++from)
      for (rank to = 0; to < 3; ++to) {
        if (from == to) continue;
        std::vector ops{send_op(to, hello_)};
        EXPECT_TRUE(job.run(job[from].lane(), ops));
      }
    for (rank r = 0; r < 3; ++r) {
      EXPECT_TRUE(job.until([&] { return job[r].lane().inbox.size() == 2; }));
      job[r].lane().inbox.clear();
    }
  }

  /// Ops of every native kind on rank 2, more than it will ever take.
  std::vector<op> many_ops() {
    std::vector<op> ops;
    for (int i = 0; i < 60; ++i) {
      ops.push_back(send_op(2, i % 2 == 0 ? std::span(hello_) : std::span(data_).first(big())));
      if (job.native(op_kind::put)) ops.push_back(put_op(2, memory_, 0, data_));
      if (job.native(op_kind::get)) ops.push_back(get_op(2, memory_, 0, into_));
      if (job.native(op_kind::atomic))
        ops.push_back(atomic_operation(2, memory_, 0, atomic_op::add, 8, 1));
    }
    return ops;
  }

  /// Posts what is taken now; rank 2 gets no time.
  std::size_t post_some(std::span<op> ops) {
    port& from = job[0].lane();
    std::size_t n = 0;
    for (int tries = 0; tries < 20 && n < ops.size(); ++tries) {
      n += from.post(ops.subspan(n)).accepted;
      (void)from.poll();
    }
    return n;
  }

  /// Posts to rank 2 until the answer is peer_lost. False: it never is.
  bool answers_peer_lost(rank from) {
    return job.until([&] {
      std::vector ops{send_op(2, hello_)};
      const auto r = job[from].lane().post(ops);
      return r.accepted == 0 && r.reason == status::peer_lost;
    });
  }

  /// Ranks 0 and 1 talk as if nothing had happened.
  void expect_the_others_go_on() {
    for (rank from = 0; from < 2; ++from) {
      port& to = job[1 - from].lane();
      to.inbox.clear();
      std::vector<op> ops(100, send_op(1 - from, data_));
      for (op& o : ops) o.memory = std::span(data_).first(big());
      ASSERT_TRUE(job.run(job[from].lane(), ops));
      ASSERT_TRUE(job.until([&] { return to.inbox.size() == 100; }));
      for (const received& m : to.inbox) EXPECT_TRUE(is_pattern(m.bytes, 2));
      EXPECT_FALSE(to.lost(from));
    }
  }

  std::size_t big() { return std::min<std::size_t>(job.max_message(), 20'000); }

  group job;

 private:
  std::vector<std::byte> hello_ = pattern(20, 1), data_ = pattern(1'000'000, 2);
  std::vector<std::byte> into_ = std::vector<std::byte>(1'000'000);
  memory::region_ref memory_;
};

TEST_P(Contract, EndsEveryOpOfAPeerThatDiesAndTheOthersGoOn) {
  Trio trio(GetParam());
  port& from = trio.job[0].lane();
  auto ops = trio.many_ops();
  (void)trio.post_some(ops);
  trio.job.kill(2);
  ASSERT_TRUE(trio.job.until([&] { return from.in_flight() == 0 && from.lost(2); }));
  EXPECT_EQ(from.ended_with(status::done) + from.ended_with(status::peer_lost), from.ended());
  EXPECT_TRUE(trio.answers_peer_lost(0));
  trio.expect_the_others_go_on();
}

TEST_P(Contract, TellsEverybodyWhoKnewAPeerThatItIsGone) {
  Trio trio(GetParam());
  trio.job.kill(2);
  EXPECT_TRUE(trio.job.until([&] { return trio.job[0].lane().lost(2); }));
  EXPECT_TRUE(trio.job.until([&] { return trio.job[1].lane().lost(2); }));
  trio.expect_the_others_go_on();
}

TEST_P(Contract, NoticesThatAPeerIsGoneOnTheFirstOpToIt) {
  group job(GetParam(), 2, quick_to_notice());
  port& from = job[0].lane();
  job.kill(1);  // nobody has ever spoken to it
  const auto data = pattern(10, 1);
  EXPECT_TRUE(job.until([&] {
    std::vector ops{send_op(1, data)};
    return from.post(ops).reason == status::peer_lost;
  }));
  EXPECT_TRUE(job.until([&] { return from.in_flight() == 0; }));
}

TEST_P(Contract, DeliversWhatWasSentBeforeAnOrderlyEnd) {
  Trio trio(GetParam());
  port &from = trio.job[2].lane(), &to = trio.job[0].lane();
  const auto data = pattern(5000, 3);
  const std::size_t bytes = std::min<std::size_t>(trio.job.max_message(), 5000);
  std::vector<op> ops(10, send_op(0, std::span(data).first(bytes)));
  std::span<op> rest(ops);
  const auto limit = clock::now() + std::chrono::seconds(20);
  while (clock::now() < limit && !(rest.empty() && from.inner().idle())) {
    if (!rest.empty()) rest = rest.subspan(from.post(rest).accepted);
    (void)from.poll();  // the receiver does nothing meanwhile
  }
  ASSERT_TRUE(rest.empty() && from.inner().idle());
  trio.job.kill(2);
  ASSERT_TRUE(trio.job.until([&] { return to.lost(2); }));
  EXPECT_EQ(to.inbox.size(), 10u);
  for (const received& m : to.inbox) EXPECT_TRUE(is_pattern(m.bytes, 3));
}

TEST_P(Contract, DropEndsEveryOpOfThatPeerAndTheOthersGoOn) {
  Trio trio(GetParam());
  port& from = trio.job[0].lane();
  auto ops = trio.many_ops();
  const std::size_t posted = trio.post_some(ops);
  EXPECT_GT(posted, 0u);
  from.drop(2);
  ASSERT_TRUE(trio.job.until([&] { return from.in_flight() == 0; }));
  EXPECT_EQ(from.ended_with(status::done) + from.ended_with(status::peer_lost), from.ended());
  EXPECT_TRUE(trio.answers_peer_lost(0));
  trio.expect_the_others_go_on();
}

TEST_P(Contract, TakesNoMessageFromADroppedPeer) {
  Trio trio(GetParam());
  const auto data = pattern(100, 1);
  std::vector<op> ops(50, send_op(0, data));
  (void)trio.job[2].lane().post(ops);
  (void)trio.job[2].lane().poll();
  trio.job[0].lane().drop(2);  // its port complains about messages from dropped peers
  trio.job.settle();
  EXPECT_TRUE(trio.job[0].lane().inbox.empty());
}

TEST_P(Contract, MayDropAPeerTwiceAndOneThatIsGone) {
  Trio trio(GetParam());
  port& from = trio.job[0].lane();
  from.drop(2);
  from.drop(2);
  trio.job.kill(2);
  trio.job.settle();
  from.drop(2);
  EXPECT_TRUE(trio.answers_peer_lost(0));
  trio.expect_the_others_go_on();
}

TEST_P(Contract, WakesOrIsToldByMaintainWhenAPeerDiesWhileItSleeps) {
  Trio trio(GetParam());
  port& p = trio.job[0].lane();
  while (!p.inner().arm()) (void)p.poll();
  std::thread killer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    trio.job.kill(2);
  });
  const auto limit = clock::now() + std::chrono::seconds(20);
  while (!p.lost(2) && clock::now() < limit) {  // as an executor with a slow heartbeat
    pollfd fd{p.inner().fd(), POLLIN, 0};
    (void)::poll(&fd, 1, 200);
    p.maintain();
    (void)p.poll();
    (void)p.inner().arm();
  }
  killer.join();
  EXPECT_TRUE(p.lost(2));
}

}  // namespace
}  // namespace heddle::test
