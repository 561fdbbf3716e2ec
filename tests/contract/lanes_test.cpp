// SPDX-License-Identifier: BSD-3-Clause
// lanes_test.cpp - lanes keep apart, each with its own thread.
#include <atomic>
#include <chrono>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include "contract/contract.h"
#include "support/pattern.h"
#include "support/scale.h"

namespace heddle::test {
namespace {

using transport::op_kind;
using clock = std::chrono::steady_clock;

TEST_P(Contract, DeliversToTheLaneOfTheSameNumberOnly) {
  constexpr int lanes = 5;
  group job(GetParam(), 2);
  for (int lane = 0; lane < lanes; ++lane) {
    (void)job[0].lane(lane);
    (void)job[1].lane(lane);
  }
  for (int lane = lanes; lane-- > 0;) {
    const auto data = pattern(100, static_cast<std::uint64_t>(lane));
    std::vector<op> ops(10, send_op(1, data));
    ASSERT_TRUE(job.run(job[0].lane(lane), ops));
  }
  for (int lane = 0; lane < lanes; ++lane) {
    port& to = job[1].lane(lane);
    ASSERT_TRUE(job.until([&] { return to.inbox.size() == 10; })) << lane;
    for (const received& m : to.inbox)
      EXPECT_TRUE(is_pattern(m.bytes, static_cast<std::uint64_t>(lane)));
  }
}

/// What `to` got from one lane of a rank, in the order in which it came.
std::vector<std::uint64_t> numbers_from(const port& to, rank peer, int lane) {
  std::vector<std::uint64_t> all;
  for (const received& m : to.inbox) {
    if (m.from != peer || m.lane != lane) continue;
    EXPECT_EQ(m.bytes.size(), sizeof(std::uint64_t));
    std::memcpy(&all.emplace_back(), m.bytes.data(), sizeof(std::uint64_t));
  }
  return all;
}

TEST_P(Contract, CarriesMessagesBetweenLanesOfAnyNumbersInOrderAndSaysFromWhich) {
  group job(GetParam(), 3);
  port& server = job[0].lane(2);
  constexpr std::uint64_t each = 200;
  for (std::uint64_t i = 0; i < each; ++i)
    for (const rank client : {1, 2})
      for (const int lane : {0, 2, 5}) {
        std::vector ops{send_op({0, 2}, std::as_bytes(std::span(&i, 1)))};
        ASSERT_TRUE(job.post_all(job[client].lane(lane), ops));
      }
  ASSERT_TRUE(job.until([&] { return server.inbox.size() == 6 * each; }));
  std::vector<std::uint64_t> expected(each);
  std::iota(expected.begin(), expected.end(), std::uint64_t{0});
  for (const rank client : {1, 2})
    for (const int lane : {0, 2, 5}) {
      EXPECT_EQ(numbers_from(server, client, lane), expected) << client << " " << lane;
      const std::uint64_t answer = 100 * static_cast<std::uint64_t>(lane);
      std::vector ops{send_op({client, lane}, std::as_bytes(std::span(&answer, 1)))};
      ASSERT_TRUE(job.post_all(server, ops));
      port& to = job[client].lane(lane);
      ASSERT_TRUE(job.until([&] { return to.inbox.size() == 1; }));
      EXPECT_EQ(numbers_from(to, 0, 2), std::vector{answer});
    }
}

TEST_P(Contract, ConnectsTwoLanesOfDifferentNumbersThatBeginAtOnce) {
  for (int round = 0; round < 20; ++round) {
    group job(GetParam(), 2);
    port &a = job[0].lane(1), &b = job[1].lane(4);
    const std::uint64_t from_a = 1, from_b = 2;
    std::vector to_b{send_op({1, 4}, std::as_bytes(std::span(&from_a, 1)))};
    std::vector to_a{send_op({0, 1}, std::as_bytes(std::span(&from_b, 1)))};
    bool a_sent = false, b_sent = false;
    ASSERT_TRUE(job.until([&] {
      a_sent = a_sent || a.post(to_b).accepted == 1;
      b_sent = b_sent || b.post(to_a).accepted == 1;
      return a.inbox.size() == 1 && b.inbox.size() == 1;
    }));
    EXPECT_EQ(numbers_from(a, 1, 4), std::vector{from_b});
    EXPECT_EQ(numbers_from(b, 0, 1), std::vector{from_a});
  }
}

TEST_P(Contract, CarriesMessagesBetweenTwoLanesOfOneRank) {
  group job(GetParam(), 1);
  if (!job.loops()) GTEST_SKIP() << "this backend does not reach its own process";
  port &a = job[0].lane(0), &b = job[0].lane(3);
  const std::uint64_t number = 7;
  std::vector there{send_op({0, 3}, std::as_bytes(std::span(&number, 1)))};
  std::vector back{send_op({0, 0}, std::as_bytes(std::span(&number, 1)))};
  ASSERT_TRUE(job.post_all(a, there));
  ASSERT_TRUE(job.post_all(b, back));
  ASSERT_TRUE(job.until([&] { return a.inbox.size() == 1 && b.inbox.size() == 1; }));
  EXPECT_EQ(numbers_from(a, 0, 3), std::vector{number});
  EXPECT_EQ(numbers_from(b, 0, 0), std::vector{number});
}

TEST_P(Contract, HasOneLaneForEachRankAndNumberAndNoneForOthers) {
  group job(GetParam(), 2);
  port& from = job[0].lane(0);
  EXPECT_NE(from.reach({1, 0}), from.reach({1, 1}));
  EXPECT_EQ(from.reach({1, 1}), from.reach({1, 1}));
  EXPECT_EQ(from.reach({1, 1})->peer, 1);
  EXPECT_EQ(from.reach({1, 1})->lane, 1);
  for (const destination nobody : {destination(2), destination(-1), destination(1, -2)})
    EXPECT_EQ(from.inner().reach(nobody.to, nobody.lane), nullptr);
  if (job.describe().lanes > static_cast<std::size_t>(max_lanes)) return;
  const transport::remote_lane* const beyond =
      from.reach({1, static_cast<int>(job.describe().lanes)});
  EXPECT_TRUE(beyond == nullptr || !beyond->listens);
}

TEST_P(Contract, LetsALaneRunWhileAnotherIsStuck) {
  group job(GetParam(), 2);
  port &stuck = job[0].lane(0), &free = job[0].lane(1);
  (void)job[1].lane(0);
  port& to = job[1].lane(1);
  const auto data = pattern(std::min<std::size_t>(job.max_message(), 4000), 1);
  std::vector hello{send_op(1, data)};
  ASSERT_TRUE(job.run(stuck, hello));
  std::vector<op> flood(5000, send_op(1, data)), few(50, send_op(1, data));
  std::span<op> rest(flood);
  std::size_t sent = 0;
  const auto limit = clock::now() + std::chrono::minutes(2);
  while (to.inbox.size() < 50 && clock::now() < limit) {  // nobody polls lane 0 of rank 1
    if (!rest.empty()) rest = rest.subspan(stuck.post(rest).accepted);
    if (sent < 50) sent += free.post(std::span(few).subspan(sent)).accepted;
    (void)stuck.poll();
    (void)free.poll();
    job[0].serve();
    job[1].serve();
    (void)to.poll();
  }
  EXPECT_EQ(to.inbox.size(), 50u);
  ASSERT_TRUE(job.run(stuck, rest));
}

TEST_P(Contract, DeliversToALaneThatIsOpenedLater) {
  group job(GetParam(), 2);
  (void)job[1].lane(0);
  port& from = job[0].lane(3);
  const auto data = pattern(100, 1);
  std::vector ops{send_op(1, data)};
  std::span<op> rest(ops);
  const auto limit = clock::now() + std::chrono::milliseconds(200);
  while (clock::now() < limit) {  // rank 1 may learn of it, and opens the lane then
    if (!rest.empty()) rest = rest.subspan(from.post(rest).accepted);
    job.pump();
  }
  port& to = job[1].lane(3);
  ASSERT_TRUE(job.run(from, rest));
  EXPECT_TRUE(job.until([&] { return to.inbox.size() == 1; }));
  EXPECT_TRUE(job.until([&] { return from.in_flight() == 0; }));
}

/// Lane `number` between ranks 0 and 1: its two ends are driven by a thread each.
class Pair {
 public:
  Pair(group& job, int number, int count)
      : number_(number), count_(static_cast<std::uint64_t>(count)), can_(job.describe()) {
    for (rank r = 0; r < 2; ++r) {
      ends_[std::size_t(r)].memory = job[r].allocate(64 * 1024);
      ends_[std::size_t(r)].lane = &job[r].lane(number);
    }
  }

  /// Sends count messages, now and then a put before, and takes as many. Polls until the other end
  /// is through as well, whose puts may wait for that.
  void drive(rank self) {
    end& me = ends_[std::size_t(self)];
    const end& other = ends_[std::size_t(1 - self)];
    std::uint64_t taken = 0, sent = 0;
    me.lane->on_message = [&](rank, std::span<const std::byte> message) {
      std::uint64_t number = 0;
      ASSERT_GE(message.size(), sizeof number);
      std::memcpy(&number, message.data(), sizeof number);
      EXPECT_TRUE(number == taken || !can_.send_after_put) << number << " came for " << taken;
      ++taken;
    };
    const auto data = pattern(2000, static_cast<std::uint64_t>(number_));
    const auto limit = clock::now() + std::chrono::seconds(sanitized ? 200 : 60);
    bool through = false;
    while (ends_through_ < 2 && clock::now() < limit) {
      std::size_t moved = me.lane->poll();
      if (!through && taken == count_ && sent == count_ && me.lane->idle() &&
          me.lane->in_flight() == 0) {
        through = true;
        ++ends_through_;
      }
      if (sent < count_) {
        const std::span header = std::as_bytes(std::span(&sent, 1));
        std::vector ops{send_op(1 - self, std::span(data).first(sent % data.size()), header)};
        if (sent % 16 == 0 && (can_.native & only(op_kind::put)) != 0 && me.lane->in_flight() == 0)
          ops.insert(ops.begin(), put_op(1 - self, other.memory.ref, 0, data));
        const auto r = me.lane->post(ops);
        moved += r.accepted;
        if (r.accepted == ops.size()) ++sent;
      }
      if (moved == 0) std::this_thread::yield();
    }
    EXPECT_EQ(taken, count_) << "lane " << number_ << " rank " << self;
    EXPECT_EQ(me.lane->in_flight(), 0u);
    me.lane->on_message = nullptr;
  }

 private:
  struct end {
    node::mapped_memory memory;
    port* lane = nullptr;
  };
  const int number_;
  const std::uint64_t count_;
  const transport::traits can_;
  std::array<end, 2> ends_;
  std::atomic<int> ends_through_ = 0;
};

TEST_P(Contract, RunsEightLanesOnSixteenThreads) {
  constexpr int lanes = 8;
  group job(GetParam(), 2);
  std::vector<std::unique_ptr<Pair>> pairs;
  for (int lane = 0; lane < lanes; ++lane)
    pairs.push_back(std::make_unique<Pair>(job, lane, scaled(500, 50)));
  std::atomic<bool> stop = false;
  std::thread executor([&] {                         // set-up work has a thread of its own
    while (!stop.load(std::memory_order_relaxed)) {  // relaxed: nothing else hangs on it
      (void)job[0].device().serve();
      (void)job[1].device().serve();
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  });
  std::vector<std::thread> threads;
  for (const auto& pair : pairs)
    for (rank r = 0; r < 2; ++r) threads.emplace_back([&pair, r] { pair->drive(r); });
  for (std::thread& t : threads) t.join();
  stop.store(true, std::memory_order_relaxed);  // relaxed: join orders the rest
  executor.join();
}

TEST_P(Contract, ExposesAndWithdrawsWhileOthersTransfer) {
  group job(GetParam(), 2);
  HEDDLE_NEEDS_NATIVE(job, op_kind::put);
  port& from = job[0].lane();
  (void)job[1].lane();
  std::vector<std::byte> memory(20'000);
  const auto data = pattern(20'000, 1);
  std::atomic<std::uint64_t> current = 0;  // slot and generation of the region of the moment
  const auto pack = [](memory::region_ref ref) {
    return std::uint64_t{ref.slot} << 32 | ref.generation;
  };
  std::atomic<bool> stop = false;
  std::thread owner([&] {                            // also rank 1's executor
    while (!stop.load(std::memory_order_acquire)) {  // pairs with the store at the end
      const auto ref = job[1].expose(memory);
      current.store(pack(ref), std::memory_order_release);  // pairs with the load below
      for (int i = 0; i < 20; ++i) job[1].pump();
      job[1].withdraw(ref);
      std::fill(memory.begin(), memory.end(), std::byte{0});
      ASSERT_TRUE(all_are(memory, std::byte{0}));
    }
  });
  const auto rounds = static_cast<std::size_t>(scaled(2000, 100));
  const auto limit = clock::now() + std::chrono::seconds(sanitized ? 100 : 20);
  std::size_t posted = 0;
  const auto enough = [&] { return posted >= rounds && from.ended_with(status::done) > 0; };
  while (!(enough() && from.idle()) && clock::now() < limit) {
    const std::uint64_t packed = current.load(std::memory_order_acquire);
    const memory::region_ref ref{static_cast<std::uint32_t>(packed >> 32),
                                 static_cast<std::uint32_t>(packed)};
    std::vector ops{put_op(1, ref, 0, std::span(data).first(posted % data.size()))};
    if (!enough() && from.in_flight() < 32) posted += from.post(ops).accepted;
    (void)from.poll();
    job[0].serve();
  }
  stop.store(true, std::memory_order_release);
  owner.join();
  EXPECT_EQ(from.in_flight(), 0u);
  EXPECT_EQ(from.ended(), posted);
  EXPECT_EQ(from.ended_with(status::done) + from.ended_with(status::withdrawn), posted);
  EXPECT_GT(from.ended_with(status::done), 0u);
}

}  // namespace
}  // namespace heddle::test
