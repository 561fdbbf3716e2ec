// SPDX-License-Identifier: BSD-3-Clause
// Barrier gates: barriers and reductions over gates that processes connect as they like.
#include <algorithm>
#include <cmath>
#include <random>

#include "exact_sum.h"
#include "lane.h"

using namespace nodes;

namespace {

constexpr utofu_vbg_id_t none = UTOFU_VBG_ID_NULL;

utofu_vbg_setting setting(utofu_vbg_id_t gate, std::array<utofu_vbg_id_t, 2> sources,
                          std::array<utofu_vbg_id_t, 2> destinations) {
  return {gate, sources[0], sources[1], destinations[0], destinations[1], {UTOFU_PATH_COORD_NULL}};
}

/// A chain: sums travel up from process 0 and the result down again. Each process has its start
/// gate, a relay for the way up and one for the way down. Returns the start gate.
utofu_vbg_id_t connect(unsigned me, unsigned count, board& all) {
  std::array<utofu_vbg_id_t, 3> mine{};
  EXPECT_EQ(utofu_alloc_vbg(static_cast<utofu_tni_id_t>(me % 6), 3, 0, mine.data()), UTOFU_SUCCESS);
  for (unsigned i = 0; i < 3; ++i) all.words[3 * me + i] = mine[i];
  all.meet(count);
  const auto gate = [&all](unsigned who, unsigned which) {
    return all.words[3 * who + which].load();
  };
  const auto [start, up, down] = mine;
  const unsigned last = count - 1;
  const utofu_vbg_id_t below = me == 0 ? none : me == 1 ? gate(0, 0) : gate(me - 1, 1);
  const utofu_vbg_id_t above = me == last ? none : me == last - 1 ? gate(last, 1) : gate(me + 1, 2);
  std::array<utofu_vbg_setting, 3> set;
  if (me == 0) {
    set = {setting(start, {down, none}, {none, gate(1, 1)}),
           setting(up, {none, none}, {none, none}), setting(down, {none, above}, {start, none})};
  } else if (me == last) {
    set = {setting(start, {up, none}, {up, none}),
           setting(up, {start, below}, {start, gate(me - 1, 2)}),
           setting(down, {none, none}, {none, none})};
  } else {
    set = {setting(start, {down, none}, {up, none}),
           setting(up, {start, below}, {none, gate(me + 1, 1)}),
           setting(down, {none, above}, {start, gate(me - 1, 2)})};
  }
  EXPECT_EQ(utofu_set_vbg(set.data(), set.size()), UTOFU_SUCCESS);
  all.meet(count);
  return start;
}

template <class Poll>
int await(const Poll& poll) {
  int rc = UTOFU_ERR_NOT_COMPLETED;
  while ((rc = poll()) == UTOFU_ERR_NOT_COMPLETED) sched_yield();
  return rc;
}

class Barriers : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Processes, Barriers, testing::Values(2, 3, 5));

TEST_P(Barriers, NobodyLeavesBeforeAllAreThere) {
  run(GetParam(), {}, [](unsigned me, board& all) {
    const utofu_vbg_id_t gate = connect(me, GetParam(), all);
    for (std::uint64_t round = 1; round <= 300; ++round) {
      all.words[100 + me] = round;
      ASSERT_EQ(utofu_barrier(gate, 0), UTOFU_SUCCESS);
      ASSERT_EQ(await([&] { return utofu_poll_barrier(gate, 0); }), UTOFU_SUCCESS);
      for (unsigned who = 0; who < GetParam(); ++who) ASSERT_GE(all.words[100 + who], round);
    }
    all.meet(GetParam());
  });
}

TEST_P(Barriers, ReductionsCombineEveryProcessesNumbers) {
  run(GetParam(), {}, [](unsigned me, board& all) {
    const unsigned count = GetParam();
    const utofu_vbg_id_t gate = connect(me, count, all);
    const auto reduce = [&](utofu_reduce_op op, std::vector<std::uint64_t> data) {
      EXPECT_EQ(utofu_reduce_uint64(gate, op, data.data(), data.size(), 0), UTOFU_SUCCESS);
      std::array<std::uint64_t, 6> result{};
      EXPECT_EQ(await([&] { return utofu_poll_reduce_uint64(gate, 0, result.data()); }),
                UTOFU_SUCCESS);
      return result;
    };
    const std::uint64_t bit = std::uint64_t{1} << me, everybody = (1u << count) - 1;
    const auto sums = reduce(UTOFU_REDUCE_OP_SUM, {1, me, 2 * me, 3 * me, 4 * me, 5 * me});
    for (unsigned i = 1; i < 6; ++i) EXPECT_EQ(sums[i], i * count * (count - 1) / 2);
    EXPECT_EQ(sums[0], count);
    EXPECT_EQ(reduce(UTOFU_REDUCE_OP_BOR, {bit})[0], everybody);
    EXPECT_EQ(reduce(UTOFU_REDUCE_OP_BXOR, {bit | 1u << 20})[0],
              everybody | (count % 2 == 0 ? 0 : 1u << 20));
    EXPECT_EQ(reduce(UTOFU_REDUCE_OP_BAND, {~bit})[0], ~everybody);
    EXPECT_EQ(reduce(UTOFU_REDUCE_OP_MAX, {me + 7})[0], count + 6);
    const auto where = reduce(UTOFU_REDUCE_OP_MAXLOC, {me == 1 ? 50u : 3u, me, 9, me});
    EXPECT_EQ(where[0], 50u);
    EXPECT_EQ(where[1], 1u);
    EXPECT_EQ(where[3], 0u) << "of equal ones the first";
    all.meet(count);
  });
}

TEST_P(Barriers, SumsOfDoublesDoNotDependOnTheOrder) {
  run(GetParam(), {}, [](unsigned me, board& all) {
    const utofu_vbg_id_t gate = connect(me, GetParam(), all);
    // Rounded after each addition, the small one would be lost.
    const unsigned last = GetParam() - 1;
    std::array<double, 3> data{me == 0      ? 1e100
                               : me == last ? -1e100 + 0.0
                                            : 1.0,
                               me == 0 ? 1.0 : 0x1p-60, 0.1};
    ASSERT_EQ(utofu_reduce_double(gate, UTOFU_REDUCE_OP_BFPSUM, data.data(), 3, 0), UTOFU_SUCCESS);
    std::array<double, 3> result{};
    ASSERT_EQ(await([&] { return utofu_poll_reduce_double(gate, 0, result.data()); }),
              UTOFU_SUCCESS);
    EXPECT_EQ(result[0], GetParam() - 2.0);
    EXPECT_EQ(result[1], 1.0);
    EXPECT_DOUBLE_EQ(result[2], 0.1 * GetParam());
    all.meet(GetParam());
  });
}

TEST(Gates, AnOperationIsNotCompletedUntilTheOtherHasCome) {
  run(2, {}, [](unsigned me, board& all) {
    const utofu_vbg_id_t gate = connect(me, 2, all);
    EXPECT_EQ(utofu_poll_barrier(gate, 0), UTOFU_ERR_NOT_PROCESSED);
    if (me == 0) {
      ASSERT_EQ(utofu_barrier(gate, 0), UTOFU_SUCCESS);
      EXPECT_EQ(utofu_barrier(gate, 0), UTOFU_ERR_BUSY);
      for (int i = 0; i < 100; ++i) EXPECT_EQ(utofu_poll_barrier(gate, 0), UTOFU_ERR_NOT_COMPLETED);
    }
    all.meet(2);
    if (me == 1) {
      ASSERT_EQ(utofu_barrier(gate, 0), UTOFU_SUCCESS);
    }
    EXPECT_EQ(await([&] { return utofu_poll_barrier(gate, 0); }), UTOFU_SUCCESS);
    all.meet(2);
  });
}

TEST(Gates, DifferentOperationsAreAMismatch) {
  run(2, {}, [](unsigned me, board& all) {
    const utofu_vbg_id_t gate = connect(me, 2, all);
    std::uint64_t one = 1, result = 0;
    const utofu_reduce_op op = me == 0 ? UTOFU_REDUCE_OP_SUM : UTOFU_REDUCE_OP_MAX;
    ASSERT_EQ(utofu_reduce_uint64(gate, op, &one, 1, 0), UTOFU_SUCCESS);
    EXPECT_EQ(await([&] { return utofu_poll_reduce_uint64(gate, 0, &result); }),
              UTOFU_ERR_BARRIER_MISMATCH);
    all.meet(2);
  });
}

TEST(Gates, AreAllocatedAllOrNoneAndFreed) {
  alone({}, [] {
    std::array<utofu_vbg_id_t, 48> ids{};
    EXPECT_EQ(utofu_alloc_vbg(0, 34, 0, ids.data()), UTOFU_ERR_FULL) << "one start and 32 relays";
    ASSERT_EQ(utofu_alloc_vbg(0, 33, 0, ids.data()), UTOFU_SUCCESS);
    std::array<std::uint8_t, 6> at{};
    utofu_tni_id_t tni = 9;
    utofu_bg_id_t number = 99;
    uint16_t extra = 0;
    ASSERT_EQ(utofu_query_vbg_info(ids[0], at.data(), &tni, &number, &extra), UTOFU_SUCCESS);
    EXPECT_EQ(tni, 0);
    EXPECT_LT(number, 16);
    ASSERT_EQ(utofu_query_vbg_info(ids[1], at.data(), &tni, &number, &extra), UTOFU_SUCCESS);
    EXPECT_GE(number, 16);
    utofu_vbg_id_t other = 0;
    for (int i = 1; i < 16; ++i) EXPECT_EQ(utofu_alloc_vbg(0, 1, 0, &other), UTOFU_SUCCESS);
    EXPECT_EQ(utofu_alloc_vbg(0, 1, 0, &other), UTOFU_ERR_FULL);
    EXPECT_EQ(utofu_alloc_vbg(1, 1, 0, &other), UTOFU_SUCCESS) << "another TNI";
    EXPECT_EQ(utofu_free_vbg(ids.data(), 33), UTOFU_SUCCESS);
    EXPECT_EQ(utofu_free_vbg(ids.data(), 1), UTOFU_ERR_INVALID_VBG_ID);
    EXPECT_EQ(utofu_alloc_vbg(0, 33, 0, ids.data()), UTOFU_SUCCESS);
  });
}

TEST(Gates, HaveLimitsOfNumbersAndOperations) {
  alone({}, [] {
    utofu_vbg_id_t gate = 0;
    ASSERT_EQ(utofu_alloc_vbg(0, 1, 0, &gate), UTOFU_SUCCESS);
    utofu_vbg_setting to_itself = setting(gate, {none, none}, {none, none});
    ASSERT_EQ(utofu_set_vbg(&to_itself, 1), UTOFU_SUCCESS);
    std::array<std::uint64_t, 7> words{};
    std::array<double, 4> doubles{};
    EXPECT_EQ(utofu_reduce_uint64(gate, UTOFU_REDUCE_OP_SUM, words.data(), 7, 0),
              UTOFU_ERR_INVALID_NUMBER);
    EXPECT_EQ(utofu_reduce_double(gate, UTOFU_REDUCE_OP_BFPSUM, doubles.data(), 4, 0),
              UTOFU_ERR_INVALID_NUMBER);
    EXPECT_EQ(utofu_reduce_double(gate, UTOFU_REDUCE_OP_SUM, doubles.data(), 1, 0),
              UTOFU_ERR_INVALID_OP);
    EXPECT_EQ(utofu_reduce_uint64(gate, UTOFU_REDUCE_OP_BFPSUM, words.data(), 1, 0),
              UTOFU_ERR_INVALID_OP);
    EXPECT_EQ(utofu_barrier(gate, 0), UTOFU_SUCCESS);
    EXPECT_EQ(utofu_poll_barrier(gate, 0), UTOFU_SUCCESS) << "alone, it waits for nobody";
  });
}

TEST(ExactSum, IsExactAndRoundsOnce) {
  const auto sum_of = [](const std::vector<double>& numbers) {
    tofu::exact_sum sum{};
    for (const double x : numbers) sum.add(x);
    return sum.value();
  };
  EXPECT_EQ(sum_of({}), 0.0);
  EXPECT_EQ(sum_of({1.5, -0.25}), 1.25);
  EXPECT_EQ(sum_of({1e308, 1.0, -1e308}), 1.0);
  EXPECT_EQ(sum_of({-1e-308, 1e300, 3e-320, -1e300}), -1e-308 + 3e-320);
  EXPECT_EQ(sum_of({0x1p53, 1.0}), 0x1p53) << "a tie goes to even";
  EXPECT_EQ(sum_of({0x1p53, 1.0, 0x1p-1074}), 0x1p53 + 2) << "a little more than a tie up";
  EXPECT_EQ(sum_of({5e-324, 5e-324}), 1e-323);
  EXPECT_EQ(sum_of({1.7e308, 1.7e308}), INFINITY);
  EXPECT_EQ(sum_of({1.7e308, 1.7e308, -1.7e308}), 1.7e308);
  EXPECT_EQ(sum_of({INFINITY, -1.0}), INFINITY);
  EXPECT_TRUE(std::isnan(sum_of({INFINITY, -INFINITY})));
}

TEST(ExactSum, IsTheSameInAnyOrderAndGrouping) {
  std::mt19937_64 random(7);
  std::vector<double> numbers;
  for (int i = 0; i < 500; ++i) {
    const double mantissa = static_cast<double>(static_cast<std::int64_t>(random()));
    numbers.push_back(std::ldexp(mantissa, static_cast<int>(random() % 1800) - 1000));
  }
  tofu::exact_sum first{};
  for (const double x : numbers) first.add(x);
  for (int round = 0; round < 20; ++round) {
    std::shuffle(numbers.begin(), numbers.end(), random);
    tofu::exact_sum left{}, right{};
    for (std::size_t i = 0; i < numbers.size(); ++i) (i % 3 == 0 ? left : right).add(numbers[i]);
    left.add(right);
    ASSERT_EQ(left.value(), first.value());
  }
}

}  // namespace
