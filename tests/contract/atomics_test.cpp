// SPDX-License-Identifier: BSD-3-Clause
// atomics_test.cpp - atomics by the device: each of them, in both widths, none lost.
#include <heddle/detail/direct.h>

#include <array>
#include <cstring>
#include <limits>

#include "contract/contract.h"
#include "support/pattern.h"
#include "support/scale.h"

namespace heddle::test {
namespace {

using transport::op_kind;

constexpr std::array all_atomics{
    atomic_op::add,        atomic_op::bit_and,      atomic_op::bit_or,   atomic_op::bit_xor,
    atomic_op::swap,       atomic_op::compare_swap, atomic_op::min,      atomic_op::max,
    atomic_op::signed_min, atomic_op::signed_max,   atomic_op::float_add};

/// Does every atomic with every pair of `values`, fetching or not, and compares with the CPU's.
template <class T>
void check_atomics(group& job, const node::mapped_memory& there, bool fetching) {
  port& from = job[0].lane();
  constexpr T highest = std::numeric_limits<T>::max();
  constexpr std::array<T, 4> values{0, 1, static_cast<T>(0x5555'5555'5555'5555), highest};
  auto* const words = reinterpret_cast<T*>(there.bytes.data());
  for (const atomic_op what : all_atomics) {
    if (!job.describe().atomics.has(what, sizeof(T))) continue;  // the engine does not ask for it
    for (const T before : values)
      for (const T operand : values) {
        // Which of two that are no numbers a sum is, is the compiler's choice.
        if (what == atomic_op::float_add && (before == highest || operand == highest)) continue;
        const T compare = operand == 1 ? before : operand;  // hits, and mostly misses
        std::array<T, 3> expected{highest, before, highest}, old{7, 7, 7};
        std::copy(expected.begin(), expected.end(), words);
        const T was = detail::apply_atomic(what, expected[1], operand, compare);
        const auto into = std::as_writable_bytes(std::span(old)).subspan(sizeof(T), sizeof(T));
        std::vector ops{atomic_operation(1, there.ref, sizeof(T), what, sizeof(T), operand,
                                         fetching ? into : std::span<std::byte>{}, compare)};
        ASSERT_TRUE(job.run(from, ops));
        ASSERT_EQ(from.outcome(ops[0].number), status::done);
        const auto name = static_cast<int>(what);
        EXPECT_TRUE(std::equal(expected.begin(), expected.end(), words)) << "atomic " << name;
        EXPECT_EQ(old, (std::array<T, 3>{7, fetching ? was : T{7}, 7})) << "atomic " << name;
      }
  }
}

TEST_P(Contract, AppliesEveryAtomicLikeTheCpu) {
  group job(GetParam(), 2);
  HEDDLE_NEEDS_NATIVE(job, op_kind::atomic);
  std::vector<std::uint64_t> words(4);
  const auto plain = std::as_writable_bytes(std::span(words));
  const std::array kinds{node::mapped_memory{plain, job[1].expose(plain)}, job[1].allocate(64)};
  for (const auto& there : kinds)
    for (const bool fetching : {false, true}) {
      check_atomics<std::uint32_t>(job, there, fetching);
      check_atomics<std::uint64_t>(job, there, fetching);
    }
}

TEST_P(Contract, LosesNoAtomicOfManyPeers) {
  constexpr int peers = 4;
  group job(GetParam(), peers);
  HEDDLE_NEEDS_NATIVE(job, op_kind::atomic);
  const auto there = job[0].allocate(64);
  auto* const word = reinterpret_cast<std::uint64_t*>(there.bytes.data());
  const auto each = static_cast<std::size_t>(scaled(1000, 100));
  std::array<std::vector<op>, peers> ops;
  std::array<std::vector<std::uint64_t>, peers> old;
  std::array<std::span<op>, peers> rest;
  for (std::size_t r = 1; r < peers; ++r) {
    old[r].resize(each);
    for (std::uint64_t& o : old[r])
      ops[r].push_back(atomic_operation(0, there.ref, 0, atomic_op::add, 8, 1,
                                        std::as_writable_bytes(std::span(&o, 1))));
    rest[r] = ops[r];
  }
  std::size_t own = 0;
  ASSERT_TRUE(job.until([&] {
    if (job.describe().cpu_atomics) {
      detail::apply_atomic<std::uint64_t>(atomic_op::add, *word, 1, 0);
      ++own;
    }
    bool all = true;
    for (std::size_t r = 1; r < peers; ++r) {
      port& from = job[static_cast<rank>(r)].lane();
      rest[r] = rest[r].subspan(
          from.post(rest[r].first(std::min<std::size_t>(rest[r].size(), 50))).accepted);
      all = all && rest[r].empty() && from.in_flight() == 0;
    }
    return all;
  }));
  EXPECT_EQ(*word, (peers - 1) * each + own);
  std::vector<bool> seen(*word);
  for (const auto& values : old)
    for (const std::uint64_t v : values) {
      ASSERT_LT(v, seen.size());
      EXPECT_FALSE(seen[v]) << v << " was fetched twice";
      seen[v] = true;
    }
}

TEST_P(Contract, RefusesMisalignedAtomics) {
  group job(GetParam(), 2);
  HEDDLE_NEEDS_NATIVE(job, op_kind::atomic);
  port& from = job[0].lane();
  const auto there = job[1].allocate(64);
  const auto shifted = job[1].expose(there.bytes.subspan(1, 32));
  fill_pattern(there.bytes, 3);
  std::uint64_t old = 7;
  const auto into = std::as_writable_bytes(std::span(&old, 1));
  for (const std::uint8_t width : {std::uint8_t{4}, std::uint8_t{8}})
    for (const std::uint64_t offset : {1, 2, 3, 5, 9}) {
      std::vector ops{
          atomic_operation(1, there.ref, offset, atomic_op::add, width, 1, into.first(width)),
          atomic_operation(1, shifted, offset - 1, atomic_op::add, width, 1, into.first(width))};
      ASSERT_TRUE(job.run(from, ops));
      EXPECT_EQ(from.outcome(ops[0].number), status::misaligned) << offset;
      if (offset % width == 1) continue;
      EXPECT_EQ(from.outcome(ops[1].number), status::misaligned) << offset;
    }
  EXPECT_EQ(old, 7u);
}

}  // namespace
}  // namespace heddle::test
