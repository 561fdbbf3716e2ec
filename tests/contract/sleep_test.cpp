// SPDX-License-Identifier: BSD-3-Clause
// sleep_test.cpp - arm, fd and poll(2): nobody sleeps through what was meant to wake it (I2).
#include <poll.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <random>
#include <thread>

#include "contract/contract.h"
#include "support/pattern.h"
#include "support/scale.h"

namespace heddle::test {
namespace {

using transport::op_kind;
using clock = std::chrono::steady_clock;

constexpr int nap_ms = sanitized ? 10'000 : 2'000;

/// Sleeps on the endpoint and the device, as an executor does. False: nothing came in `ms`.
bool sleep(node& n, port& p, int ms) {
  const auto limit = clock::now() + std::chrono::milliseconds(ms);
  std::array<pollfd, 2> fds{{{p.inner().fd(), POLLIN, 0}, {n.device().fd(), POLLIN, 0}}};
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(limit - clock::now()).count();
    const int woken = ::poll(fds.data(), fds.size(), left > 0 ? static_cast<int>(left) : 0);
    if (woken < 0 && errno == EINTR) continue;
    EXPECT_GE(woken, 0);
    return woken > 0;
  }
}

/// What an executor does with one lane until `finished`: never sleeps without arming, and never
/// longer than until something happens. False: it slept through something.
template <class F>
bool run_with_naps(node& n, port& p, const F& finished) {
  while (!finished()) {
    n.serve();
    if (p.poll() != 0 || finished()) continue;
    if (!p.inner().arm()) continue;
    if (!sleep(n, p, nap_ms)) return false;
  }
  return true;
}

/// Goes on until what was sent has left, of which no descriptor tells. False: it never does.
bool see_off(node& n, port& p) {
  for (int tries = 0; tries < 20'000 && !p.idle(); ++tries) {
    n.serve();
    if (p.poll() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return p.idle();
}

TEST_P(Contract, HasDescriptorsThatStayTheSame) {
  group job(GetParam(), 2);
  port& p = job[0].lane();
  const int fd = p.inner().fd();
  const int device_fd = job[0].device().fd();
  EXPECT_GE(fd, 0);
  const auto data = pattern(100, 1);
  std::vector ops{send_op(1, data)};
  ASSERT_TRUE(job.run(p, ops));
  (void)p.inner().arm();
  EXPECT_EQ(p.inner().fd(), fd);
  EXPECT_EQ(job[0].device().fd(), device_fd);
}

TEST_P(Contract, ComesToRestWhenNothingHappens) {
  group job(GetParam(), 2);
  const auto data = pattern(100, 1);
  for (rank r = 0; r < 2; ++r) {
    std::vector ops{send_op(1 - r, data)};
    ASSERT_TRUE(job.run(job[r].lane(), ops));
  }
  ASSERT_TRUE(job.until([&] { return job[0].lane().inbox.size() == 1; }));
  ASSERT_TRUE(job.until([&] { return job[1].lane().inbox.size() == 1; }));
  for (rank r = 0; r < 2; ++r) {
    bool slept = false;
    for (int tries = 0; tries < 100 && !slept; ++tries) {
      (void)job[r].pump();
      slept = job[r].lane().inner().arm() && !sleep(job[r], job[r].lane(), 20);
    }
    EXPECT_TRUE(slept) << "rank " << r << " is woken again and again by nothing";
  }
}

TEST_P(Contract, NoticesAMessageThatArrivesBetweenPollAndArm) {
  group job(GetParam(), 2);
  port &from = job[0].lane(), &to = job[1].lane();
  for (std::size_t round = 0; round < 200; ++round) {
    ASSERT_TRUE(job.until([&] { return job.pump() == 0; }));
    const auto data = pattern(round, round);
    std::vector ops{send_op(1, data)};
    std::span<op> rest(ops);
    for (int tries = 0; tries < 1000 && !(rest.empty() && from.idle()); ++tries) {
      if (!rest.empty()) rest = rest.subspan(from.post(rest).accepted);
      const bool moved = from.poll() != 0;
      job[0].serve();
      if (round == 0) job[1].pump();  // connects
      if (!moved && tries > 100) std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    ASSERT_TRUE(rest.empty());
    ASSERT_TRUE(run_with_naps(job[1], to, [&] { return to.inbox.size() == round + 1; }));
  }
}

TEST_P(Contract, TellsWhoHasArmedLooselyOfWhatComesLater) {
  group job(GetParam(), 2);
  port &from = job[0].lane(), &to = job[1].lane();
  const auto data = pattern(100, 1);
  std::vector first{send_op(1, data)}, second{send_op(1, data)};
  ASSERT_TRUE(job.run(from, first));
  ASSERT_TRUE(job.until([&] { return to.inbox.size() == 1 && job.pump() == 0; }));
  bool armed = false;
  for (int tries = 0; tries < 100 && !armed; ++tries) {
    (void)job.pump();
    armed = to.inner().arm_loosely();
  }
  ASSERT_TRUE(armed);
  std::span<op> rest(second);
  for (int tries = 0; tries < 1000 && !rest.empty(); ++tries) {
    rest = rest.subspan(from.post(rest).accepted);
    (void)from.poll();
  }
  ASSERT_TRUE(rest.empty());
  ASSERT_TRUE(see_off(job[0], from));
  EXPECT_TRUE(sleep(job[1], to, nap_ms));
}

TEST_P(Contract, WakesASleepingReceiver) {
  group job(GetParam(), 2);
  const auto rounds = static_cast<std::size_t>(scaled(500, 50));
  const auto play = [&](rank self) {  // each waits, asleep, for the other's message
    node& me = job[self];
    port& p = me.lane();
    const auto data = pattern(64, 1);
    std::minstd_rand random(static_cast<unsigned>(self) + 1);
    for (std::size_t round = 0; round < rounds; ++round) {
      const std::size_t wanted = self == 0 ? round : round + 1;
      if (!run_with_naps(me, p, [&] { return p.inbox.size() >= wanted; })) return false;
      if (random() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
      std::vector ops{send_op(1 - self, data)};
      std::span<op> rest(ops);
      const auto posted = [&] {
        if (!rest.empty()) rest = rest.subspan(p.post(rest).accepted);
        return rest.empty();
      };
      if (!run_with_naps(me, p, posted)) return false;
    }
    const bool all_came = run_with_naps(me, p, [&] { return p.inbox.size() == rounds; });
    return all_came && see_off(me, p);
  };
  for (rank r = 0; r < 2; ++r) (void)job[r].lane();
  bool other_woke = false;
  std::thread other([&] { other_woke = play(1); });
  const bool woke = play(0);
  other.join();
  EXPECT_TRUE(woke);
  EXPECT_TRUE(other_woke);
}

TEST_P(Contract, WakesWhoeverWaitsForRoom) {
  group job(GetParam(), 2);
  port &from = job[0].lane(), &to = job[1].lane();
  const auto data = pattern(std::min<std::size_t>(job.max_message(), 4000), 1);
  std::vector hello{send_op(1, data)};
  ASSERT_TRUE(job.run(from, hello));
  std::size_t sent = 1;
  bool busy = false;
  std::size_t refused_in_a_row = 0;
  while (sent < 50'000 && refused_in_a_row < 300) {  // until really full, whatever is held back
    std::vector ops{send_op(1, data)};
    const auto r = from.post(ops);
    sent += r.accepted;
    refused_in_a_row = r.accepted == 0 ? refused_in_a_row + 1 : 0;
    busy = r.accepted == 0;
    if (busy) (void)from.poll();
  }
  if (!busy) GTEST_SKIP() << "this backend takes any number of messages";
  bool room = false;
  std::thread receiver([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the sender sleeps by now
    (void)run_with_naps(job[1], to, [&] { return to.inbox.size() == sent + 1; });
  });
  const bool woke = run_with_naps(job[0], from, [&] {
    std::vector ops{send_op(1, data)};
    if (!room) room = from.post(ops).accepted == 1;
    return room && from.in_flight() == 0;
  });
  EXPECT_TRUE(woke);
  EXPECT_TRUE(see_off(job[0], from));
  receiver.join();
  EXPECT_EQ(to.inbox.size(), sent + 1);
}

TEST_P(Contract, WakesBothSidesThroughALargePutAndGet) {
  group job(GetParam(), 2);
  HEDDLE_NEEDS_NATIVE(job, op_kind::put);
  HEDDLE_NEEDS_NATIVE(job, op_kind::get);
  const std::size_t bytes = std::min<std::size_t>(job.describe().max_op, 5'000'000);
  std::vector<std::byte> there(bytes), back(bytes);
  const auto ref = job[1].expose(there);
  const auto data = pattern(bytes, 2);
  port &from = job[0].lane(), &to = job[1].lane();
  const auto hello = pattern(1, 1);
  bool target_woke = false;
  std::thread target([&] {  // it calls nothing for the ops: it moves when it is woken
    target_woke = run_with_naps(job[1], to, [&] { return to.inbox.size() == 1; });
  });
  std::array<std::vector<op>, 3> steps{std::vector{put_op(1, ref, 0, data)},
                                       std::vector{get_op(1, ref, 0, back)},
                                       std::vector{send_op(1, hello)}};
  bool woke = true;
  for (auto& ops : steps) {
    std::span<op> rest(ops);
    woke = woke && run_with_naps(job[0], from, [&] {
             if (!rest.empty()) rest = rest.subspan(from.post(rest).accepted);
             return rest.empty() && from.in_flight() == 0;
           });
  }
  EXPECT_TRUE(see_off(job[0], from));
  target.join();
  EXPECT_TRUE(woke);
  EXPECT_TRUE(target_woke);
  EXPECT_EQ(back, data);
}

}  // namespace
}  // namespace heddle::test
