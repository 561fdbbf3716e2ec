// SPDX-License-Identifier: BSD-3-Clause
// kernels_test.cpp - each kernel moves exactly the messages its definition says, both ways round.
#include "linktest/measure/kernels.h"

#include <gtest/gtest.h>

#include "linktest/measure/test_fabric.h"

namespace heddle::linktest {
namespace {

/// Counts what one rank sends and receives, by purpose.
class counting_messenger final : public messenger {
 public:
  explicit counting_messenger(messenger& inner) : inner_(inner) {}
  [[nodiscard]] rank self() const noexcept override { return inner_.self(); }
  [[nodiscard]] int size() const noexcept override { return inner_.size(); }
  status send(rank to, tag t, std::span<const std::byte> data) override {
    ++(t >> 56 == static_cast<tag>(purpose::receipt) ? receipts : sent);
    return inner_.send(to, t, data);
  }
  status recv(rank from, tag t, std::span<std::byte> into, patience how) override {
    ++(t >> 56 == static_cast<tag>(purpose::receipt) ? receipts : received);
    return inner_.recv(from, t, into, how);
  }
  status exchange(rank peer, tag t, std::span<const std::byte> data,
                  std::span<std::byte> into) override {
    ++sent, ++received;
    return inner_.exchange(peer, t, data, into);
  }
  status send_burst(rank to, tag t, std::span<const std::byte> data, std::uint64_t n,
                    std::uint64_t window) override {
    sent += n;
    return inner_.send_burst(to, t, data, n, window);
  }
  status recv_burst(rank from, tag t, std::span<std::byte> slots, std::size_t bytes,
                    std::uint64_t n) override {
    received += n;
    return inner_.recv_burst(from, t, slots, bytes, n);
  }
  std::uint64_t sent = 0, received = 0, receipts = 0;

 private:
  messenger& inner_;
};

struct traffic {
  std::uint64_t sent, received, receipts;
  friend bool operator==(const traffic&, const traffic&) = default;
};

/// Runs kernel `k` from rank 0 to rank 1; [0] is the initiator's traffic.
std::array<traffic, 2> traffic_of(kernel k, std::uint64_t n) {
  test_fabric fabric(2);
  std::array<traffic, 2> out{};
  fabric.run([&](messenger& wire) {
    counting_messenger counted(wire);
    std::array<std::byte, 16> data{}, into{};
    const rank self = wire.self();
    EXPECT_EQ(run_kernel(counted, k, {1 - self, self == 0, 3, n}, {std::span(data).first(4), into}),
              status::done);
    out[static_cast<std::size_t>(self)] = {counted.sent, counted.received, counted.receipts};
  });
  return out;
}

TEST(Kernels, SemiBouncesOneMessageNTimes) {
  for (const std::uint64_t n : {1u, 2u, 7u})
    for (const traffic& side : traffic_of(kernel::semi, n)) EXPECT_EQ(side, (traffic{n, n, 0}));
}

TEST(Kernels, BiBouncesTwoMessagesNTimesSoEachSideSendsTwiceAsMany) {
  for (const std::uint64_t n : {1u, 2u, 7u})
    for (const traffic& side : traffic_of(kernel::bi, n))
      EXPECT_EQ(side, (traffic{2 * n, 2 * n, 0}));
}

TEST(Kernels, UniStreamsNMessagesAndTakesOneReceipt) {
  for (const std::uint64_t n : {1u, 2u, 7u}) {
    const auto sides = traffic_of(kernel::uni, n);
    EXPECT_EQ(sides[0], (traffic{n, 0, 1}));
    EXPECT_EQ(sides[1], (traffic{0, n, 1}));
  }
}

TEST(Kernels, ReportALostPeerFromEitherSideInsteadOfWaiting) {
  for (const kernel k : {kernel::semi, kernel::bi, kernel::uni}) {
    for (const bool initiator : {true, false}) {
      test_fabric fabric(2);
      fabric.kill(1);
      test_messenger wire(fabric, 0);
      std::array<std::byte, 4> data{}, into{};
      EXPECT_EQ(run_kernel(wire, k, {1, initiator, 0, 5}, {data, into}), status::peer_lost);
    }
  }
}

/// Counts reads instead of doing them.
class counted_fetches final : public fetch_path {
 public:
  status prepare(messenger&, rank, std::uint64_t, const kernel_buffers&) override {
    return status::done;
  }
  status fetch(rank, std::span<std::byte>) override {
    ++fetches;
    return fetches == fails_at ? status::peer_lost : status::done;
  }
  status fetch_burst(rank, std::span<std::byte>, std::size_t, std::uint64_t count,
                     std::uint64_t window) override {
    fetches += count;
    in_flight = window;
    return status::done;
  }
  std::uint64_t fetches = 0, in_flight = 0, fails_at = 0;
};

/// One side of kernel `k` by reading, without a peer.
std::uint64_t fetches_of(kernel k, bool initiator) {
  test_fabric alone(2);
  test_messenger wire(alone, 0);
  counted_fetches fetches;
  std::array<std::byte, 8> data{}, into{};
  EXPECT_EQ(run_kernel({wire, &fetches}, k, {1, initiator, 0, 5, 3}, {data, into}), status::done);
  EXPECT_EQ(fetches.in_flight, k == kernel::uni && initiator ? 3u : 0u);
  return fetches.fetches;
}

TEST(Kernels, ReadAsManyMessagesAsBounceWhileTheOtherSideOfSemiAndUniRests) {
  EXPECT_EQ(fetches_of(kernel::semi, true), 10u);
  EXPECT_EQ(fetches_of(kernel::semi, false), 0u);
  EXPECT_EQ(fetches_of(kernel::bi, true), 10u);
  EXPECT_EQ(fetches_of(kernel::bi, false), 10u);
  EXPECT_EQ(fetches_of(kernel::uni, true), 5u);
  EXPECT_EQ(fetches_of(kernel::uni, false), 0u);
}

TEST(Kernels, EndWithTheFirstReadThatFails) {
  test_fabric alone(2);
  test_messenger wire(alone, 0);
  counted_fetches fetches;
  fetches.fails_at = 4;
  std::array<std::byte, 8> data{}, into{};
  std::array<float, 10> times{};
  EXPECT_EQ(run_kernel({wire, &fetches}, kernel::semi, {1, true, 0, 5}, {data, into}),
            status::peer_lost);
  EXPECT_EQ(fetches.fetches, 4u);
  fetches.fetches = 0;
  EXPECT_EQ(run_kernel_by_message({wire, &fetches}, kernel::semi, {1, true, 0, 5}, {data, into}, 0,
                                  times),
            status::peer_lost);
  EXPECT_EQ(fetches.fetches, 4u);
}

}  // namespace
}  // namespace heddle::linktest
