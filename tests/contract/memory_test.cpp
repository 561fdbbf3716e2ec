// SPDX-License-Identifier: BSD-3-Clause
// memory_test.cpp - puts and gets by the device, and mappings: every size, nothing beside it.
#include <algorithm>
#include <array>
#include <cstring>

#include "contract/contract.h"
#include "support/pattern.h"
#include "support/scale.h"

namespace heddle::test {
namespace {

using transport::op_kind;

constexpr std::byte canary{0xc5};
constexpr std::size_t most = 8 * 1024 * 1024;
constexpr std::size_t margin = 64;

constexpr std::array<std::size_t, 16> sizes{
    0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 4095, 4097, 65'539, (1 << 20) + 1, (3 << 20) + 17, most};

/// Memory that belongs to the program, and memory that the library made.
struct both_kinds {
  std::vector<std::byte> plain;
  std::array<node::mapped_memory, 2> all;
  both_kinds(node& owner, std::size_t bytes) : plain(bytes) {
    all[0] = {plain, owner.expose(plain)};
    all[1] = owner.allocate(bytes);
  }
};

TEST_P(Contract, PutsEverySizeAndNothingBesideIt) {
  group job(GetParam(), 2);
  HEDDLE_NEEDS_NATIVE(job, op_kind::put);
  port& from = job[0].lane();
  both_kinds memory(job[1], most + 2 * margin);
  for (const node::mapped_memory& there : memory.all)
    for (const std::size_t bytes : sizes) {
      if (bytes > job.describe().max_op) continue;
      const std::size_t offset = margin - bytes % 5;  // odd ones too
      const auto around = there.bytes.first(offset + bytes + margin);
      std::fill(around.begin(), around.end(), canary);
      const auto data = pattern(bytes, bytes);
      std::vector ops{put_op(1, there.ref, offset, data)};
      ASSERT_TRUE(job.run(from, ops)) << bytes;
      ASSERT_EQ(from.outcome(ops[0].number), status::done) << bytes;
      EXPECT_TRUE(is_pattern(around.subspan(offset, bytes), bytes)) << bytes;
      EXPECT_TRUE(all_are(around.first(offset), canary)) << bytes;
      EXPECT_TRUE(all_are(around.subspan(offset + bytes), canary)) << bytes;
    }
}

TEST_P(Contract, GetsEverySizeAndNothingBesideIt) {
  group job(GetParam(), 2);
  HEDDLE_NEEDS_NATIVE(job, op_kind::get);
  port& from = job[0].lane();
  both_kinds memory(job[1], most + 2 * margin);
  std::vector<std::byte> into(most + 2 * margin);
  for (const node::mapped_memory& there : memory.all) {
    fill_pattern(there.bytes, 77);
    for (const std::size_t bytes : sizes) {
      if (bytes > job.describe().max_op) continue;
      const std::size_t offset = bytes % 61, at = margin + bytes % 3;
      std::fill(into.begin(), into.end(), canary);
      const std::span<std::byte> view(into);
      std::vector ops{get_op(1, there.ref, offset, view.subspan(at, bytes))};
      ASSERT_TRUE(job.run(from, ops)) << bytes;
      ASSERT_EQ(from.outcome(ops[0].number), status::done) << bytes;
      const auto same = there.bytes.subspan(offset, bytes);
      EXPECT_EQ(std::memcmp(same.data(), view.data() + at, bytes), 0) << bytes;
      EXPECT_TRUE(all_are(view.first(at), canary)) << bytes;
      EXPECT_TRUE(all_are(view.subspan(at + bytes), canary)) << bytes;
    }
    std::fill(there.bytes.begin(), there.bytes.end(), std::byte{0});
  }
}

TEST_P(Contract, CarriesManySmallPutsAtOnce) {
  group job(GetParam(), 3);
  HEDDLE_NEEDS_NATIVE(job, op_kind::put);
  const auto count = static_cast<std::size_t>(scaled(4000, 400));
  both_kinds memory(job[2], count * 16);
  const auto data = pattern(count * 16, 5);
  const std::span<const std::byte> view(data);
  for (const node::mapped_memory& there : memory.all) {
    std::array<std::vector<op>, 2> ops;  // ranks 0 and 1 write every second item
    for (std::size_t i = 0; i < count; ++i)
      ops[i % 2].push_back(put_op(2, there.ref, i * 16, view.subspan(i * 16, 16)));
    ASSERT_TRUE(job.run(job[0].lane(), ops[0]));
    ASSERT_TRUE(job.run(job[1].lane(), ops[1]));
    EXPECT_EQ(first_difference(there.bytes, 5), there.bytes.size());
  }
}

TEST_P(Contract, GetsAndPutsLargeBlocksInBothDirectionsAmongMessages) {
  group job(GetParam(), 2);
  HEDDLE_NEEDS_NATIVE(job, op_kind::put);
  HEDDLE_NEEDS_NATIVE(job, op_kind::get);
  constexpr std::size_t bytes = 3'000'001;
  std::array<both_kinds, 2> memory{both_kinds(job[0], 2 * bytes), both_kinds(job[1], 2 * bytes)};
  std::array<std::vector<std::byte>, 2> sources{pattern(bytes, 1), pattern(bytes, 2)};
  std::array<std::vector<std::byte>, 2> into{std::vector<std::byte>(bytes),
                                             std::vector<std::byte>(bytes)};
  const auto message = pattern(100, 3);
  std::array<std::vector<op>, 2> ops;
  for (std::size_t me = 0; me < 2; ++me) {
    const rank peer = me == 0 ? 1 : 0;
    const auto& there = memory[1 - me].all[me];
    fill_pattern(there.bytes.subspan(bytes), 10 + me);
    ops[me].push_back(put_op(peer, there.ref, 0, sources[me]));
    ops[me].push_back(send_op(peer, message));
    ops[me].push_back(get_op(peer, there.ref, bytes, into[me]));
    for (int i = 0; i < 20; ++i) ops[me].push_back(send_op(peer, message));
  }
  std::array<std::span<op>, 2> rest{ops[0], ops[1]};
  ASSERT_TRUE(job.until([&] {
    for (std::size_t me = 0; me < 2; ++me)
      rest[me] = rest[me].subspan(job[static_cast<rank>(me)].lane().post(rest[me]).accepted);
    return rest[0].empty() && rest[1].empty();
  }));
  for (std::size_t me = 0; me < 2; ++me) {
    port& mine = job[static_cast<rank>(me)].lane();
    ASSERT_TRUE(job.until([&] { return mine.in_flight() == 0 && mine.inbox.size() == 21; }));
    EXPECT_EQ(mine.ended_with(status::done), 23u);
    EXPECT_TRUE(is_pattern(memory[1 - me].all[me].bytes.first(bytes), 1 + me));
    EXPECT_TRUE(is_pattern(message, 3));
  }
  for (std::size_t me = 0; me < 2; ++me) {
    const auto there = memory[1 - me].all[me].bytes.subspan(bytes);
    EXPECT_TRUE(std::equal(there.begin(), there.end(), into[me].begin()));
  }
}

TEST_P(Contract, ReachesItsOwnMemory) {
  group job(GetParam(), 2);
  HEDDLE_NEEDS_NATIVE(job, op_kind::put);
  HEDDLE_NEEDS_NATIVE(job, op_kind::get);
  if (!job.loops()) GTEST_SKIP() << "this backend leaves ops on oneself to others";
  port& self = job[1].lane();
  both_kinds memory(job[1], 70'000);
  const auto data = pattern(70'000, 4);
  for (const node::mapped_memory& there : memory.all) {
    std::vector<std::byte> back(70'000);
    std::vector put{put_op(1, there.ref, 0, data)};
    ASSERT_TRUE(job.run(self, put));
    std::vector get{get_op(1, there.ref, 0, back)};
    ASSERT_TRUE(job.run(self, get));
    EXPECT_EQ(back, data);
  }
}

/// What a peer's mapping of a region is worth, or nothing when there is none.
struct mapping {
  detail::remote_target target;
  std::shared_ptr<void> keeper;
  mapping(node& here, rank owner, memory::region_ref ref)
      : keeper(here.device().import(owner, ref, target)) {}
};

TEST_P(Contract, MapsTheSameBytesThatTheOwnerSees) {
  group job(GetParam(), 2);
  const auto memory = job[1].allocate(100'000);
  fill_pattern(memory.bytes, 6);
  const mapping here(job[0], 1, memory.ref);
  if (here.keeper == nullptr) GTEST_SKIP() << "this device maps nothing: ops go through post";
  ASSERT_EQ(here.target.bytes, memory.bytes.size());
  ASSERT_NE(here.target.direct, nullptr);
  const std::span<std::byte> view(here.target.direct, here.target.bytes);
  EXPECT_TRUE(is_pattern(view, 6));
  fill_pattern(view, 7);
  EXPECT_TRUE(is_pattern(memory.bytes, 7));
  EXPECT_TRUE(here.target.live->is(here.target.generation));
}

TEST_P(Contract, TellsThroughTheMappingThatTheOwnerHasWithdrawn) {
  group job(GetParam(), 2);
  const auto memory = job[1].allocate(5000);
  const mapping here(job[0], 1, memory.ref);
  if (here.keeper == nullptr) GTEST_SKIP() << "this device maps nothing: ops go through post";
  job[1].withdraw(memory.ref);
  EXPECT_FALSE(here.target.live->is(here.target.generation));
}

TEST_P(Contract, TellsThroughTheMappingThatTheOwnerIsGone) {
  group job(GetParam(), 2);
  const auto memory = job[1].allocate(5000);
  const mapping here(job[0], 1, memory.ref);
  if (here.keeper == nullptr) GTEST_SKIP() << "this device maps nothing: ops go through post";
  const auto hello = pattern(10, 1);
  std::vector ops{send_op(1, hello)};
  ASSERT_TRUE(job.run(job[0].lane(), ops));
  job.kill(1);
  ASSERT_TRUE(job.until([&] { return job[0].lane().lost(1); }));
  EXPECT_FALSE(here.target.live->is(here.target.generation));
}

TEST_P(Contract, MapsNoRegionThatHasNeverBeenOrIsNoMore) {
  group job(GetParam(), 2);
  const auto memory = job[1].allocate(5000);
  auto other = memory.ref;
  ++other.generation;
  job[1].withdraw(memory.ref);
  for (const auto ref : {memory.ref, other, memory::region_ref{~0u, 1}}) {
    try {
      const mapping here(job[0], 1, ref);
      EXPECT_TRUE(here.keeper == nullptr || !here.target.live->is(here.target.generation));
    } catch (const error& e) {
      EXPECT_STRNE(e.what(), "");
    }
  }
}

}  // namespace
}  // namespace heddle::test
