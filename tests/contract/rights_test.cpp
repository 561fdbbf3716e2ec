// SPDX-License-Identifier: BSD-3-Clause
// rights_test.cpp - what must not be touched is not: stale keys, bounds, rights, withdrawal.
#include <algorithm>
#include <array>
#include <cstring>

#include "contract/contract.h"
#include "support/pattern.h"

namespace heddle::test {
namespace {

using memory::region_ref;
using transport::op_kind;

constexpr std::size_t bytes = 4096;

/// Rank 1's memory in the middle of more, and tries on it by rank 0 that have to fail.
class Target {
 public:
  explicit Target(const contract_case& backend) : job(backend, 2), around_(3 * bytes) {
    fill_pattern(around_, 9);
  }
  std::span<std::byte> memory() { return std::span(around_).subspan(bytes, bytes); }
  [[nodiscard]] bool untouched() const { return is_pattern(around_, 9); }

  /// How the op ends; `into` must stay as it is when it fails.
  status put(memory::region_ref ref, std::uint64_t offset, std::size_t n) {
    return outcome({put_op(1, ref, offset, std::span(source_).first(n))});
  }
  status get(memory::region_ref ref, std::uint64_t offset, std::size_t n) {
    return outcome({get_op(1, ref, offset, std::span(into_).first(n))});
  }
  status add(memory::region_ref ref, std::uint64_t offset, std::uint8_t width = 8) {
    return outcome({atomic_operation(1, ref, offset, atomic_op::add, width, 1,
                                     std::span(into_).first(width))});
  }
  /// Every kind that is native, on the same place.
  std::vector<status> all(memory::region_ref ref, std::uint64_t offset, std::size_t n) {
    std::vector<status> answers;
    if (job.native(op_kind::put)) answers.push_back(put(ref, offset, n));
    if (job.native(op_kind::get)) answers.push_back(get(ref, offset, n));
    if (job.native(op_kind::atomic) && n == 8) answers.push_back(add(ref, offset));
    return answers;
  }
  [[nodiscard]] bool got_nothing() const { return all_are(into_, std::byte{0}); }

  group job;

 private:
  status outcome(std::vector<op> ops) {
    EXPECT_TRUE(job.run(job[0].lane(), ops));
    return job[0].lane().outcome(ops[0].number);
  }
  std::vector<std::byte> around_;
  std::vector<std::byte> source_ = std::vector<std::byte>(bytes, std::byte{0xab});
  std::vector<std::byte> into_ = std::vector<std::byte>(bytes);
};

TEST_P(Contract, RefusesAKeyThatNamesNothing) {
  Target target(GetParam());
  const memory::region_ref good = target.job[1].expose(target.memory());
  memory::region_ref stale = good, unused = good, outside = good;
  ++stale.generation;
  unused.slot += 1;
  outside.slot = 0xffff'fff0;
  for (const memory::region_ref ref :
       {stale, unused, outside, memory::region_ref{}, memory::region_ref{good.slot, 0}})
    for (const status s : target.all(ref, 0, 8)) EXPECT_EQ(s, status::withdrawn) << name_of(s);
  EXPECT_TRUE(target.untouched());
  EXPECT_TRUE(target.got_nothing());
}

TEST_P(Contract, RefusesTheKeyOfARegionWhoseSlotHasANewOne) {
  Target target(GetParam());
  const memory::region_ref first = target.job[1].expose(target.memory());
  target.job[1].withdraw(first);
  const memory::region_ref second = target.job[1].expose(target.memory());
  EXPECT_FALSE(first == second);
  for (const status s : target.all(first, 0, 8)) EXPECT_EQ(s, status::withdrawn) << name_of(s);
  EXPECT_TRUE(target.untouched());
}

TEST_P(Contract, RefusesWhateverReachesOverTheEnd) {
  Target target(GetParam());
  const memory::region_ref ref = target.job[1].expose(target.memory());
  constexpr std::uint64_t end = ~std::uint64_t{0};
  struct range {
    std::uint64_t offset;
    std::size_t n;
  };
  for (const range r : {range{bytes - 7, 8}, range{bytes, 1}, range{bytes + 1, 0}, range{1, bytes},
                        range{bytes, 8}, range{end, 1}, range{end - 7, 8}, range{end - 3, bytes},
                        range{end, 0}, range{std::uint64_t{1} << 63, 8}})
    for (const status s : target.all(ref, r.offset, r.n))
      EXPECT_TRUE(s == status::out_of_bounds || (s == status::misaligned && r.offset % 8 != 0))
          << r.n << " at " << r.offset << ": " << name_of(s);
  EXPECT_TRUE(target.untouched());
  EXPECT_TRUE(target.got_nothing());
}

TEST_P(Contract, AcceptsNothingAtTheVeryEnd) {
  Target target(GetParam());
  const memory::region_ref ref = target.job[1].expose(target.memory());
  for (const status s : target.all(ref, bytes, 0)) EXPECT_EQ(s, status::done);
  EXPECT_TRUE(target.untouched());
}

TEST_P(Contract, DeniesWhatTheRegionDoesNotAllow) {
  Target target(GetParam());
  const auto with = [&](rights allowed) { return target.job[1].expose(target.memory(), allowed); };
  if (target.job.native(op_kind::put)) {
    EXPECT_EQ(target.put(with(rights::read | rights::atomic), 0, 8), status::denied);
    EXPECT_EQ(target.put(with(rights::none), 0, 0), status::denied);
  }
  if (target.job.native(op_kind::get)) {
    EXPECT_EQ(target.get(with(rights::write | rights::atomic), 0, 8), status::denied);
    EXPECT_EQ(target.get(with(rights::none), 0, 0), status::denied);
  }
  if (target.job.native(op_kind::atomic)) {
    EXPECT_EQ(target.add(with(rights::read | rights::write), 0), status::denied);
    EXPECT_EQ(target.add(with(rights::none), 0), status::denied);
  }
  EXPECT_TRUE(target.untouched());
  EXPECT_TRUE(target.got_nothing());
}

TEST_P(Contract, AllowsWithExactlyTheRightNeeded) {
  Target target(GetParam());
  const auto with = [&](rights allowed) { return target.job[1].expose(target.memory(), allowed); };
  if (target.job.native(op_kind::put)) {
    EXPECT_EQ(target.put(with(rights::write), 0, 8), status::done);
  }
  if (target.job.native(op_kind::get)) {
    EXPECT_EQ(target.get(with(rights::read), 0, 8), status::done);
  }
  if (target.job.native(op_kind::atomic)) {
    EXPECT_EQ(target.add(with(rights::atomic), 0), status::done);
  }
}

/// Withdraws rank 1's region after `pumps` steps of rank 0's ops on it, and looks on.
void withdraw_in_between(const contract_case& backend, op_kind kind, int pumps) {
  constexpr std::size_t large = 1'000'000;
  group job(backend, 2);
  HEDDLE_NEEDS_NATIVE(job, kind);
  port& from = job[0].lane();
  std::vector<std::byte> memory(large), local(large, std::byte{0xab});
  const memory::region_ref ref = job[1].expose(memory);
  std::vector<op> ops;
  for (int i = 0; i < 6; ++i)
    ops.push_back(kind == op_kind::put ? put_op(1, ref, 0, local) : get_op(1, ref, 0, local));
  std::span<op> rest(ops);
  for (int i = 0; i < pumps; ++i) {
    rest = rest.subspan(from.post(rest).accepted);
    job.pump();
  }
  job[1].withdraw(ref);
  fill_pattern(memory, 12);  // it is the program's own again
  ASSERT_TRUE(job.run(from, rest));
  EXPECT_TRUE(is_pattern(memory, 12)) << "written to after withdraw had returned";
  EXPECT_EQ(from.ended(), 6u);
  EXPECT_EQ(from.ended_with(status::done) + from.ended_with(status::withdrawn), 6u);
}

TEST_P(Contract, WritesNothingAfterWithdrawHasReturned) {
  for (const int pumps : {0, 1, 2, 3, 5, 8, 13, 21, 34, 55})
    withdraw_in_between(GetParam(), op_kind::put, pumps);
}

TEST_P(Contract, EndsGetsFromARegionThatIsWithdrawnMeanwhile) {
  for (const int pumps : {0, 1, 2, 3, 5, 8, 13, 21, 34, 55})
    withdraw_in_between(GetParam(), op_kind::get, pumps);
}

TEST_P(Contract, GoesOnAfterARefusedOp) {
  Target target(GetParam());
  const memory::region_ref ref = target.job[1].expose(target.memory());
  port &from = target.job[0].lane(), &to = target.job[1].lane();
  const auto data = pattern(100, 1);
  for (int i = 0; i < 20; ++i) {
    for (const status s : target.all(ref, bytes + 8, 8)) EXPECT_EQ(s, status::out_of_bounds);
    std::vector ops{send_op(1, data)};
    ASSERT_TRUE(target.job.run(from, ops));
  }
  ASSERT_TRUE(target.job.until([&] { return to.inbox.size() == 20; }));
  for (const status s : target.all(ref, 0, 0)) EXPECT_EQ(s, status::done);
}

}  // namespace
}  // namespace heddle::test
