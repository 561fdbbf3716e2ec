// SPDX-License-Identifier: BSD-3-Clause
// traits_test.cpp - what a device says of itself is so.
#include <array>
#include <cstring>

#include "contract/contract.h"
#include "support/pattern.h"

namespace heddle::test {
namespace {

using transport::op_kind;

TEST_P(Contract, IsDoneWithTheDataOfAPutThatGoesInline) {
  group job(GetParam(), 2);
  const std::size_t bytes = job.describe().max_inline;
  if (bytes == 0) GTEST_SKIP() << "no put goes inline";
  port& from = job[0].lane();
  const auto there = job[1].allocate(2 * bytes);
  auto data = pattern(bytes, 1);
  std::vector ops{put_op(1, there.ref, 0, data), put_op(1, there.ref, bytes, data)};
  std::span<op> rest(ops);
  ASSERT_TRUE(job.until([&] {
    rest = rest.subspan(from.post(rest).accepted);
    return rest.empty();
  }));
  std::fill(data.begin(), data.end(), std::byte{0});
  ASSERT_TRUE(job.until([&] { return from.in_flight() == 0; }));
  EXPECT_TRUE(is_pattern(there.bytes.first(bytes), 1));
  EXPECT_TRUE(is_pattern(there.bytes.subspan(bytes, bytes), 1));
}

TEST_P(Contract, HasNoMoreInFlightThanItsDepth) {
  group job(GetParam(), 2);
  HEDDLE_NEEDS_NATIVE(job, op_kind::put);
  const std::size_t depth = job.describe().depth;
  if (depth > 100'000) GTEST_SKIP() << "no bound is told";
  port& from = job[0].lane();
  const auto there = job[1].allocate(64);
  const auto data = pattern(64, 1);
  std::vector<op> ops(3 * depth, put_op(1, there.ref, 0, data));
  std::span<op> rest(ops);
  for (int i = 0; i < 3 && !rest.empty(); ++i) rest = rest.subspan(from.post(rest).accepted);
  EXPECT_LE(from.in_flight(), depth);
  ASSERT_TRUE(job.run(from, rest));
}

TEST_P(Contract, ShowsPutsInTheirOrderWhereItSaysSo) {
  group job(GetParam(), 2);
  HEDDLE_NEEDS_NATIVE(job, op_kind::put);
  if (!job.describe().put_after_put) GTEST_SKIP() << "this backend keeps no order";
  constexpr std::size_t bytes = 100'000;
  port& from = job[0].lane();
  const auto there = job[1].allocate(bytes + sizeof(std::uint64_t));
  for (std::uint64_t round = 1; round <= 100; ++round) {
    const auto data = pattern(bytes, round);
    std::vector ops{put_op(1, there.ref, 0, data),
                    put_op(1, there.ref, bytes, std::as_bytes(std::span(&round, 1)))};
    std::span<op> rest(ops);
    std::uint64_t seen = 0;
    ASSERT_TRUE(job.until([&] {
      rest = rest.subspan(from.post(rest).accepted);
      std::memcpy(&seen, there.bytes.data() + bytes, sizeof seen);
      return seen == round;
    }));
    ASSERT_TRUE(is_pattern(there.bytes.first(bytes), round)) << round;
    ASSERT_TRUE(job.until([&] { return rest.empty() && from.in_flight() == 0; }));
  }
}

TEST_P(Contract, TellsOfAPutOnceItsBytesAreThere) {
  group job(GetParam(), 2);
  if (!job.describe().put_tells) GTEST_SKIP() << "no put tells";
  port &from = job[0].lane(), &to = job[1].lane();
  std::uint64_t number = 0;
  for (const std::size_t bytes : {8u, 1000u, 10'000u, 300'000u, 3'000'000u}) {
    const auto there = job[1].allocate(bytes);
    for (int round = 0; round < 20; ++round) {
      const std::uint64_t seed = ++number;
      const auto data = pattern(bytes, seed);
      op o = put_op(1, there.ref, 0, data);
      o.tells = true;
      o.header = std::as_bytes(std::span(&seed, 1));
      std::span<op> rest(&o, 1);
      ASSERT_TRUE(job.until([&] {
        rest = rest.subspan(from.post(rest).accepted);
        return rest.empty() && to.inbox.size() == seed;
      }));
      ASSERT_TRUE(is_pattern(there.bytes, seed)) << bytes;
      std::uint64_t told = 0;
      ASSERT_EQ(to.inbox.back().bytes.size(), sizeof told);
      std::memcpy(&told, to.inbox.back().bytes.data(), sizeof told);
      ASSERT_EQ(told, seed);
      ASSERT_TRUE(job.until([&] { return from.in_flight() == 0; }));
    }
  }
}

TEST_P(Contract, TellsNothingOfAPutThatFails) {
  group job(GetParam(), 2);
  if (!job.describe().put_tells) GTEST_SKIP() << "no put tells";
  port &from = job[0].lane(), &to = job[1].lane();
  for (const std::size_t bytes : {8u, 100'000u}) {
    const auto there = job[1].allocate(bytes);
    const auto data = pattern(bytes, 1);
    std::vector<op> ops(2, put_op(1, there.ref, 1, data));  // one byte too far
    ops[1].offset = 0;
    for (op& o : ops) o.tells = true;
    to.inbox.clear();
    (void)job.run(from, ops);
    ASSERT_TRUE(job.until([&] { return from.in_flight() == 0 && !to.inbox.empty(); }));
    for (int i = 0; i < 100; ++i) (void)to.poll();
    EXPECT_EQ(to.inbox.size(), 1u) << "the good one's";
  }
}

TEST_P(Contract, ReachesMemoryOfAPeerThatDoesNothingUnlessItSaysOtherwise) {
  group job(GetParam(), 2);
  HEDDLE_NEEDS_NATIVE(job, op_kind::put);
  if (job.describe().target_polls) GTEST_SKIP() << "the peer has to poll its lane";
  port& from = job[0].lane();
  (void)job[1].lane();
  const auto there = job[1].allocate(1000);
  const auto first = pattern(1000, 1), second = pattern(1000, 2);
  std::vector ops{put_op(1, there.ref, 0, first)};
  ASSERT_TRUE(job.run(from, ops));  // and they know each other
  std::vector more{put_op(1, there.ref, 0, second)};
  std::span<op> rest(more);
  while (!rest.empty() || from.in_flight() != 0) {
    rest = rest.subspan(from.post(rest).accepted);
    (void)from.poll();
  }
  EXPECT_TRUE(is_pattern(there.bytes, 2));
}

TEST_P(Contract, HasTheLanesThatItSaysAndRefusesOthers) {
  group job(GetParam(), 1);
  const std::size_t lanes = job.describe().lanes;
  ASSERT_GT(lanes, 0u);
  if (lanes > 1000) GTEST_SKIP() << "as many as one likes";
  EXPECT_NO_THROW((void)job[0].lane(static_cast<int>(lanes) - 1));
  EXPECT_THROW((void)job[0].lane(static_cast<int>(lanes)), error);
}

}  // namespace
}  // namespace heddle::test
