// SPDX-License-Identifier: BSD-3-Clause
// receives_test.cpp - memory that is posted to the wire, and what peers deliver there.
#include <array>
#include <cstdint>
#include <vector>

#include "contract/contract.h"
#include "support/pattern.h"

namespace heddle::test {
namespace {

using transport::op_kind;

TEST_P(Contract, BringsEachDeliveryToTheReceiveOfItsNumber) {
  group job(GetParam(), 2);
  HEDDLE_NEEDS_NATIVE(job, op_kind::receive);
  port &from = job[0].lane(), &to = job[1].lane();
  constexpr std::array<std::size_t, 5> sizes{1, 100, 5000, 70'000, 1'000'000};
  std::vector<std::vector<std::byte>> sent, got;
  std::vector<op> receives, deliveries;
  for (const std::size_t bytes : sizes) {
    const std::uint64_t number = 10 + sent.size();
    receives.push_back(receive_op({0}, number, got.emplace_back(bytes)));
    deliveries.push_back(deliver_op({1}, number, sent.emplace_back(pattern(bytes, number))));
  }
  std::swap(deliveries[0], deliveries[3]);
  ASSERT_TRUE(job.post_all(to, receives));
  ASSERT_TRUE(job.run(from, deliveries));
  ASSERT_TRUE(job.until([&] { return to.in_flight() == 0; }));
  EXPECT_EQ(got, sent);
  EXPECT_EQ(to.ended_with(status::done), sizes.size());
}

TEST_P(Contract, KeepsADeliveryUntilItIsReceived) {
  group job(GetParam(), 2);
  HEDDLE_NEEDS_NATIVE(job, op_kind::receive);
  port &from = job[0].lane(), &to = job[1].lane();
  const auto data = pattern(3000, 1);
  std::vector deliveries{deliver_op({1}, 1, data)};
  ASSERT_TRUE(job.post_all(from, deliveries));
  job.settle();
  EXPECT_EQ(from.in_flight(), 1u);
  std::vector<std::byte> wrong(3000), right(3000);
  std::vector receives{receive_op({0}, 2, wrong), receive_op({0}, 1, right)};
  ASSERT_TRUE(job.post_all(to, receives));
  ASSERT_TRUE(job.until([&] { return from.in_flight() == 0 && to.in_flight() == 1; }));
  EXPECT_EQ(right, data);
  EXPECT_EQ(wrong, std::vector<std::byte>(3000)) << "nobody has delivered under this number";
}

TEST_P(Contract, TellsDeliveriesOfTwoLanesApart) {
  group job(GetParam(), 2);
  HEDDLE_NEEDS_NATIVE(job, op_kind::receive);
  port& to = job[1].lane();
  const std::array data{pattern(500, 1), pattern(500, 2)};
  std::array<std::vector<std::byte>, 2> got{std::vector<std::byte>(500),
                                            std::vector<std::byte>(500)};
  std::vector receives{receive_op({0, 1}, 7, got[1]), receive_op({0, 0}, 7, got[0])};
  ASSERT_TRUE(job.post_all(to, receives));
  for (const int lane : {0, 1}) {
    std::vector deliveries{deliver_op({1, 0}, 7, data[static_cast<std::size_t>(lane)])};
    ASSERT_TRUE(job.run(job[0].lane(lane), deliveries));
  }
  ASSERT_TRUE(job.until([&] { return to.in_flight() == 0; }));
  EXPECT_EQ(got, data);
}

TEST_P(Contract, EndsReceivesAndDeliveriesOfAPeerThatDies) {
  group job(GetParam(), 2);
  HEDDLE_NEEDS_NATIVE(job, op_kind::receive);
  port& here = job[0].lane();
  (void)job[1].lane();
  std::vector<std::byte> into(100);
  const auto data = pattern(100, 1);
  std::vector ops{receive_op({1}, 1, into), deliver_op({1}, 2, data)};
  ASSERT_TRUE(job.post_all(here, ops));
  job.settle();
  job.kill(1);
  ASSERT_TRUE(job.until([&] { return here.in_flight() == 0; }));
  EXPECT_EQ(here.ended_with(status::peer_lost), 2u);
}

}  // namespace
}  // namespace heddle::test
