// kernels_test.cpp - each kernel moves exactly the messages its definition says, both ways round.
#include "linktest/kernels.h"

#include <gtest/gtest.h>

#include "linktest/test_fabric.h"

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
  status send_burst(rank to, tag t, std::span<const std::byte> data, std::uint64_t n) override {
    sent += n;
    return inner_.send_burst(to, t, data, n);
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

}  // namespace
}  // namespace heddle::linktest
