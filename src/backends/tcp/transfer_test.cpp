// SPDX-License-Identifier: BSD-3-Clause
// transfer_test.cpp - moving data: all kinds and sizes, over IPv4 and IPv6.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "backends/tcp/frame.h"
#include "backends/tcp/test_job.h"

namespace heddle::transport::tcp {
namespace {

constexpr std::size_t mib = 1024 * 1024;

class Tcp : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(, Tcp, testing::Values("lo", "::1"), [](const auto& p) {
  return std::string(p.param) == "lo" ? "IPv4" : "IPv6";
});

TEST_P(Tcp, DeliversMessagesOfEverySizeInOrder) {
  test_job job(2, GetParam());
  const std::vector<std::size_t> sizes{
      0, 1, 7, 8, 100, 4096, 8191, 8192, 8193, 30'000, max_message - sizeof(message_head)};
  for (const std::size_t bytes : sizes) {
    const auto data = pattern(bytes);
    test_op o = send_op(1, data);
    EXPECT_EQ(job.post(0, o), status::done);
  }
  ASSERT_TRUE(job.until([&] { return job[1].messages.size() == sizes.size(); }));
  for (std::size_t i = 0; i < sizes.size(); ++i) EXPECT_EQ(job[1].messages[i], pattern(sizes[i]));
}

TEST_P(Tcp, PutsAndGetsFromNothingToEightMebibytes) {
  test_job job(2, GetParam());
  std::vector<std::byte> memory(8 * mib + 64);
  const memory::region_ref ref = job[1].regions.add(memory, rights::all).ref;
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, std::size_t{8}, std::size_t{255}, std::size_t{257},
        std::size_t{8192}, std::size_t{8193}, std::size_t{128 * 1024}, std::size_t{128 * 1024 + 1},
        mib, 8 * mib}) {
    std::ranges::fill(memory, std::byte{0});
    const auto data = pattern(bytes);
    ASSERT_EQ(job.run(0, put_op(1, ref, 33, data)), status::done) << bytes;
    EXPECT_TRUE(std::equal(data.begin(), data.end(), memory.begin() + 33)) << bytes;
    EXPECT_EQ(memory[32], std::byte{0});
    EXPECT_EQ(memory[33 + bytes], std::byte{0});
    std::vector<std::byte> back(bytes);
    ASSERT_EQ(job.run(0, get_op(1, ref, 33, back)), status::done) << bytes;
    EXPECT_EQ(back, data) << bytes;
  }
}

TEST_P(Tcp, AppliesEveryAtomicAndGivesTheOldValue) {
  test_job job(2, GetParam());
  alignas(8) std::array<std::byte, 16> memory{};
  const memory::region_ref ref = job[1].regions.add(memory, rights::all).ref;
  const auto apply = [&](atomic_op what, std::uint8_t width, std::uint64_t operand,
                         std::uint64_t compare = 0) {
    std::uint64_t old = 0;
    test_op o = atomic_at(1, ref, 8, operand, std::as_writable_bytes(std::span(&old, 1)));
    o.atomic = what;
    o.width = width;
    o.compare = compare;
    EXPECT_EQ(job.run(0, o), status::done);
    return old;
  };
  EXPECT_EQ(apply(atomic_op::swap, 8, 0xffff'0000'0000'0001), 0u);
  EXPECT_EQ(apply(atomic_op::add, 8, 4), 0xffff'0000'0000'0001u);
  EXPECT_EQ(apply(atomic_op::add, 4, 0xffff'ffff), 5u);  // the upper half stays
  EXPECT_EQ(apply(atomic_op::bit_and, 8, 0xff00'0000'0000'0006), 0xffff'0000'0000'0004u);
  EXPECT_EQ(apply(atomic_op::bit_or, 4, 3), 4u);
  EXPECT_EQ(apply(atomic_op::bit_xor, 8, 1), 0xff00'0000'0000'0007u);
  EXPECT_EQ(apply(atomic_op::compare_swap, 8, 9, 1), 0xff00'0000'0000'0006u);
  EXPECT_EQ(apply(atomic_op::compare_swap, 8, 9, 0xff00'0000'0000'0006), 0xff00'0000'0000'0006u);
  EXPECT_EQ(apply(atomic_op::add, 8, 0), 9u);
}

TEST_P(Tcp, RefusesWhatTheRegionDoesNotAllowAndWritesNothing) {
  test_job job(2, GetParam());
  std::vector<std::byte> memory(mib);
  const memory::region_ref readable = job[1].regions.add(memory, rights::read).ref;
  const memory::region_ref writable =
      job[1].regions.add(memory, rights::write | rights::atomic).ref;
  const auto small = pattern(8), large = pattern(mib);
  std::vector<std::byte> into(large.size());
  const std::span<std::byte> eight = std::span(into).first(8);
  EXPECT_EQ(job.run(0, put_op(1, readable, 0, small)), status::denied);
  EXPECT_EQ(job.run(0, put_op(1, readable, 0, large)), status::denied);
  EXPECT_EQ(job.run(0, put_op(1, writable, mib - 7, small)), status::out_of_bounds);
  EXPECT_EQ(job.run(0, put_op(1, writable, ~std::uint64_t{0} - 3, small)), status::out_of_bounds);
  EXPECT_EQ(job.run(0, get_op(1, writable, 0, eight)), status::denied);
  EXPECT_EQ(job.run(0, get_op(1, writable, 0, into)), status::denied);
  EXPECT_EQ(job.run(0, get_op(1, readable, mib, eight)), status::out_of_bounds);
  EXPECT_EQ(job.run(0, get_op(1, {99, 1}, 0, eight)), status::withdrawn);
  EXPECT_EQ(job.run(0, atomic_at(1, readable, 0, 1)), status::denied);
  EXPECT_EQ(job.run(0, atomic_at(1, writable, 4, 1)), status::misaligned);
  EXPECT_EQ(memory, std::vector<std::byte>(mib));
  EXPECT_EQ(job.run(0, put_op(1, writable, 0, small)), status::done);  // and goes on
  EXPECT_EQ(std::memcmp(memory.data(), small.data(), 8), 0);
}

TEST_P(Tcp, FinishesALargePutAheadOfWhichItsLastHalfIsOutOfBounds) {
  test_job job(2, GetParam());
  std::vector<std::byte> memory(mib);
  const memory::region_ref ref = job[1].regions.add(memory, rights::all).ref;
  const auto large = pattern(2 * mib);
  EXPECT_EQ(job.run(0, put_op(1, ref, 0, large)), status::out_of_bounds);
  const auto small = pattern(8, 3);
  EXPECT_EQ(job.run(0, put_op(1, ref, 0, small)), status::done);
}

TEST_P(Tcp, KeepsManyOpsOfAllKindsApart) {
  settings config;
  config.others["HEDDLE_TCP_CHUNK_BYTES"] = "16K";
  test_job job(2, GetParam(), config);
  constexpr std::size_t each = 100'000, count = 60;
  std::vector<std::byte> memory(each * count), counters(8);
  const memory::region_ref ref = job[1].regions.add(memory, rights::all).ref;
  const memory::region_ref sum = job[1].regions.add(counters, rights::all).ref;
  std::vector<std::vector<std::byte>> data, back(count);
  std::uint64_t cookie = 1'000'000;
  for (std::size_t i = 0; i < count; ++i) {
    data.push_back(pattern(i % 3 == 0 ? each : 100 * i, static_cast<unsigned>(i)));
    test_op put = put_op(1, ref, each * i, data[i]);
    test_op add = atomic_at(1, sum, 0, 1);
    put.number = ++cookie;
    add.number = ++cookie;
    ASSERT_EQ(job.post(0, put), status::posted);
    ASSERT_EQ(job.post(0, add), status::posted);
  }
  ASSERT_TRUE(job.until([&] { return job[0].ended.size() == 2 * count; }));
  for (std::size_t i = 0; i < count; ++i) {
    back[i].resize(data[i].size());
    test_op get = get_op(1, ref, each * i, back[i]);
    get.number = ++cookie;
    ASSERT_EQ(job.post(0, get), status::posted);
  }
  ASSERT_TRUE(job.until([&] { return job[0].ended.size() == 3 * count; }));
  for (const auto& [c, code] : job[0].ended) EXPECT_EQ(code, status::done) << c;
  EXPECT_EQ(back, data);
  EXPECT_EQ(std::to_integer<std::size_t>(counters[0]), count);
}

TEST(TcpOrder, ASendNeedNotWaitForALargePutBeforeItAndSendsKeepTheirOrder) {
  test_job job(2);
  constexpr std::size_t bytes = 64 * mib;  // more than a socket takes at once
  std::vector<std::byte> memory(bytes);
  const memory::region_ref ref = job[1].regions.add(memory, rights::all).ref;
  const auto text = pattern(1);
  test_op hello = send_op(1, text);
  ASSERT_EQ(job.post(0, hello), status::done);  // connects
  ASSERT_TRUE(job.until([&] { return job[1].messages.size() == 1; }));

  const auto data = pattern(bytes);
  test_op put = put_op(1, ref, 0, data);
  put.number = 1;
  ASSERT_EQ(job[0].post(std::span(&put, 1)).accepted, 1u);
  for (unsigned i = 1; i <= 50; ++i) {
    const auto small = pattern(10, i);
    test_op o = send_op(1, small);
    ASSERT_EQ(job[0].post(std::span(&o, 1)).accepted, 1u);
  }
  ASSERT_TRUE(job.until([&] { return job[1].messages.size() == 51; }));
  for (unsigned i = 1; i <= 50; ++i) EXPECT_EQ(job[1].messages[i], pattern(10, i));
  EXPECT_NE(memory.back(), data.back());
  ASSERT_TRUE(job.until([&] { return job[0].ended.size() == 1; }));
  EXPECT_EQ(memory, data);
}

TEST(TcpWithdraw, EndsTransfersOfAWithdrawnRegionAndKeepsTheConnection) {
  test_job job(2);
  constexpr std::size_t bytes = 64 * mib;
  std::vector<std::byte> memory(bytes), mine(bytes), other(64);
  const memory::region_ref put_ref = job[1].regions.add(memory, rights::write).ref;
  const memory::region_ref get_ref = job[1].regions.add(memory, rights::read).ref;
  const memory::region_ref stays = job[1].regions.add(other, rights::all).ref;
  const auto small = pattern(8);
  ASSERT_EQ(job.run(0, put_op(1, stays, 0, small)), status::done);
  for (const bool getting : {false, true}) {
    test_op o = getting ? get_op(1, get_ref, 0, mine) : put_op(1, put_ref, 0, mine);
    o.number = getting ? 501 : 500;
    ASSERT_EQ(job.post(0, o), status::posted);
    for (int i = 0; i < 3; ++i) job.pump();
    job[1].regions.remove(getting ? get_ref : put_ref);
    ASSERT_TRUE(job.until([&] { return job[0].ended.contains(o.number); }));
    EXPECT_EQ(job[0].ended[o.number], status::withdrawn);
  }
  EXPECT_EQ(job.run(0, put_op(1, stays, 8, small)), status::done);
  EXPECT_TRUE(job[0].lost.empty());
}

TEST(TcpPost, RefusesWhatCanNeverBeRight) {
  test_job job(2);
  const auto data = pattern(max_message + 1);
  EXPECT_EQ(job.run(0, send_op(1, data)), status::invalid);
  for (const rank nobody : {2, -1}) EXPECT_EQ(job[0].lane->reach(nobody, 0), nullptr);
  test_op odd = atomic_at(1, {1, 1}, 0, 1);
  odd.width = 3;
  EXPECT_EQ(job.run(0, odd), status::invalid);
}

TEST(TcpPost, BoundsWhatAStoppedReceiverMayCause) {
  test_job job(2);
  const auto data = pattern(1000);
  test_op hello = send_op(1, data);
  ASSERT_EQ(job.post(0, hello), status::done);
  ASSERT_TRUE(job.until([&] { return job[1].messages.size() == 1; }));
  std::size_t sent = 1;
  for (int refused = 0; refused < 10;) {  // rank 1 does not poll
    test_op o = send_op(1, data);
    const post_result r = job[0].post(std::span(&o, 1));
    sent += r.accepted;
    refused += r.accepted == 0 ? 1 : 0;
    if (r.accepted == 0) {
      EXPECT_EQ(r.reason, status::busy_queue);
    }
    job[0].poll();
    ASSERT_LT(sent, 100'000u) << "nothing bounds the queue";
  }
  ASSERT_TRUE(job.until([&] { return job[1].messages.size() == sent; }));
}

TEST(TcpPost, TalksToItself) {
  test_job job(1);
  const auto data = pattern(100);
  test_op o = send_op(0, data);
  ASSERT_EQ(job.post(0, o), status::done);
  ASSERT_TRUE(job.until([&] { return job[0].messages.size() == 1; }));
  EXPECT_EQ(job[0].messages[0], data);
}

/// Ends of tcp connections that this process has.
std::vector<int> connected_sockets() {
  std::vector<int> ends;
  for (int fd = 0; fd < 1024; ++fd) {
    sockaddr_storage peer{};
    socklen_t length = sizeof peer;
    const bool is = ::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &length) == 0;
    if (is && (peer.ss_family == AF_INET || peer.ss_family == AF_INET6)) ends.push_back(fd);
  }
  return ends;
}

bool is_unpaced(int fd) {
  std::array<char, 16> name{};
  socklen_t length = name.size();
  EXPECT_EQ(::getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name.data(), &length), 0);
  return std::string(name.data()) == "reno";
}

TEST_P(Tcp, NothingPacesAConnectionWithinTheHost) {
  test_job job(2, GetParam());
  const auto text = pattern(10);
  test_op o = send_op(1, text);
  ASSERT_EQ(job.post(0, o), status::done);
  ASSERT_TRUE(job.until([&] { return job[1].messages.size() == 1; }));
  ASSERT_TRUE(job.until([] { return std::ranges::all_of(connected_sockets(), is_unpaced); }));
}

TEST(TcpConnect, BothBeginAtOnceAndAgreeOnOneConnectionWithoutLoss) {
  std::minstd_rand random(5);
  for (unsigned round = 0; round < 60; ++round) {
    const std::size_t before = connected_sockets().size();
    test_job job(2);
    std::array<unsigned, 2> sent{};
    const auto all_arrived = [&] {
      return job[0].messages.size() == 20 && job[1].messages.size() == 20;
    };
    while (!all_arrived()) {  // in whatever order the two get time
      const std::size_t who = random() % 2;
      const auto text = pattern(10, sent[who]);
      test_op o = send_op(static_cast<rank>(1 - who), text);
      if (sent[who] < 20) sent[who] += job[who].post(std::span(&o, 1)).accepted == 1 ? 1 : 0;
      if (random() % 2 == 0) job[random() % 2].serve();
      if (random() % 2 == 0) job[random() % 2].poll();
      ASSERT_TRUE(job[0].lost.empty() && job[1].lost.empty());
    }
    for (std::size_t who = 0; who < 2; ++who)
      for (unsigned i = 0; i < 20; ++i) ASSERT_EQ(job[who].messages[i], pattern(10, i));
    ASSERT_TRUE(job.until([&] { return connected_sockets().size() == before + 2; })) << round;
  }
}

TEST(TcpPoll, ReachesManyPeersAndSurvivesSimultaneousConnects) {
  constexpr std::size_t ranks = 7;
  test_job job(static_cast<int>(ranks));
  for (std::size_t round = 0; round < 3; ++round)
    for (std::size_t from = 0; from < ranks; ++from)
      for (std::size_t to = 0; to < ranks; ++to) {
        const auto data = pattern(20, static_cast<unsigned>(from));
        test_op o = send_op(static_cast<rank>(to), data);
        if (round == 0) (void)job[from].post(std::span(&o, 1));  // all connect at once
        if (round != 0) {
          ASSERT_EQ(job.post(from, o), status::done);
        }
      }
  ASSERT_TRUE(job.until([&] {
    return std::ranges::all_of(job.nodes, [&](auto& n) { return n->messages.size() >= 2 * ranks; });
  }));
  for (auto& n : job.nodes) EXPECT_EQ(n->messages.size(), 2 * ranks);
}

}  // namespace
}  // namespace heddle::transport::tcp
