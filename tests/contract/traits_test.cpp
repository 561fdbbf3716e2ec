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

/// A put over all of `there`, with `number` as its message.
op telling_put(const node::mapped_memory& there, std::span<const std::byte> data,
               const std::uint64_t& number) {
  op o = put_op(1, there.ref, 0, data);
  o.tells = true;
  o.header = std::as_bytes(std::span(&number, 1));
  return o;
}

/// A message has come from rank 0 at rank 1.
void introduce(group& job) {
  const auto data = pattern(8, 1);
  std::vector hello{send_op({1}, data)};
  ASSERT_TRUE(job.run(job[0].lane(), hello));
  ASSERT_TRUE(job.until([&] { return !job[1].lane().inbox.empty(); }));
}

/// Puts to `there` twenty times, and looks whether the bytes are there when a message says so, and
/// whether one comes of each put of which the wire tells.
void put_and_listen(group& job, const node::mapped_memory& there) {
  port &from = job[0].lane(), &to = job[1].lane();
  for (std::uint64_t number = 1; number <= 20; ++number) {
    const std::size_t told = from.told();
    const auto data = pattern(there.bytes.size(), number);
    op o = telling_put(there, data, number);
    std::span<op> rest(&o, 1);
    to.inbox.clear();
    ASSERT_TRUE(job.until([&] {
      rest = rest.subspan(from.post(rest).accepted);
      const bool over = rest.empty() && from.in_flight() == 0;
      return !to.inbox.empty() || (over && from.told() == told);
    }));
    ASSERT_TRUE(is_pattern(there.bytes, number)) << there.bytes.size();
    ASSERT_TRUE(job.until([&] { return from.in_flight() == 0; }));
    ASSERT_EQ(to.inbox.size(), from.told() - told);
    if (to.inbox.empty()) continue;
    std::uint64_t arrived = 0;
    ASSERT_EQ(to.inbox.back().bytes.size(), sizeof arrived);
    std::memcpy(&arrived, to.inbox.back().bytes.data(), sizeof arrived);
    ASSERT_EQ(arrived, number);
  }
}

TEST_P(Contract, TellsOfAPutOnceItsBytesAreThere) {
  group job(GetParam(), 2);
  if (!job.describe().put_tells) GTEST_SKIP() << "no put tells";
  introduce(job);
  for (const std::size_t bytes : {8u, 300u, 1000u, 10'000u, 300'000u, 3'000'000u}) {
    put_and_listen(job, job[1].allocate(bytes));
    const std::size_t before = job[0].lane().told();
    put_and_listen(job, job.allocate_symmetric(bytes)[1]);
    EXPECT_GT(job[0].lane().told(), before) << "none of " << bytes << " bytes went in one trip";
  }
  job.settle();
  EXPECT_LE(job[1].lane().inbox.size(), 1u) << "the last one's";
}

TEST_P(Contract, TellsNothingOfAPutThatFails) {
  group job(GetParam(), 2);
  if (!job.describe().put_tells) GTEST_SKIP() << "no put tells";
  port &from = job[0].lane(), &to = job[1].lane();
  constexpr std::uint64_t good = 1, bad = 2;
  introduce(job);
  for (const std::size_t bytes : {8u, 100'000u}) {
    const auto there = job.allocate_symmetric(bytes)[1];
    const auto data = pattern(bytes, 1);
    to.inbox.clear();
    const std::size_t told = from.told();
    std::vector ops{telling_put(there, data, bad), telling_put(there, data, good)};
    ops[0].offset = 1;  // one byte too far
    (void)job.run(from, ops);
    job.settle();
    EXPECT_EQ(from.told(), told + 1);
    ASSERT_EQ(to.inbox.size(), 1u) << "the good one's";
    EXPECT_EQ(std::to_integer<unsigned>(to.inbox[0].bytes[0]), good);
  }
}

TEST_P(Contract, TellsNothingOfAPutToAnArrayThatItsOwnerHasGivenUp) {
  group job(GetParam(), 2);
  if (!job.describe().put_tells) GTEST_SKIP() << "no put tells";
  port &from = job[0].lane(), &to = job[1].lane();
  constexpr std::uint64_t number = 1;
  introduce(job);
  for (const std::size_t bytes : {8u, 300u, 100'000u}) {
    const auto arrays = job.allocate_symmetric(bytes);
    put_and_listen(job, arrays[1]);
    to.inbox.clear();
    job[1].withdraw(arrays[1].ref);
    const auto data = pattern(bytes, number);
    std::vector ops{telling_put(arrays[1], data, number)};
    (void)job.run(from, ops);
    job.settle();
    EXPECT_TRUE(to.inbox.empty()) << bytes;
    EXPECT_EQ(from.outcome(ops[0].number), status::withdrawn) << bytes;
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
