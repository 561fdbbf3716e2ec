// SPDX-License-Identifier: BSD-3-Clause
// encounter_test.cpp - what a visit sends and keeps, on two ranks that are threads.
#include "linktest/measure/encounter.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <vector>

#include "linktest/measure/test_fabric.h"

namespace heddle::linktest {
namespace {

options quick(kernel k) {
  options how;
  how.kernel = k;
  how.messages = 2;
  how.warmup = 1;
  how.singles = 4;
  return how;
}

struct visited {
  std::vector<float> times, singles;
  status answer = status::invalid;
};

/// Rank 0 visits rank 1.
visited visit_once(const options& how, const pace& often, std::span<const float> earlier = {}) {
  test_fabric fabric(2);
  visited out;
  fabric.run([&](messenger& wire) {
    std::array<std::byte, 8> data{};
    std::array<std::byte, 1024> into{};
    const bool first = wire.self() == 0;
    encounter with(wire, how, {data, into},
                   {{1 - wire.self(), first, 7, 1}, 8, often, how.singles != 0, 0});
    const status s = with.run(earlier);
    EXPECT_EQ(s, status::done);
    EXPECT_FALSE(with.corrupted());
    if (first) out = {with.times(), with.singles(), s};
  });
  return out;
}

TEST(Encounter, MeasuresOnceWhenNoMoreIsWanted) {
  for (const kernel k : {kernel::semi, kernel::bi, kernel::uni})
    EXPECT_EQ(visit_once(quick(k), {0.02, 1, 1}).times.size(), 1u);
}

TEST(Encounter, GoesOnUntilTheMostMeasurementsThoseOfEarlierVisitsAmongThem) {
  const std::array<float, 2> earlier{1e-3f, 1};
  const visited v = visit_once(quick(kernel::semi), {0, 9, 60}, earlier);
  ASSERT_EQ(v.times.size(), 9u);
  EXPECT_EQ(v.times[0], 1e-3f);
  EXPECT_GT(v.times[8], 0);
}

TEST(Encounter, TimesSingleMessagesWhereTheyHaveAnswers) {
  EXPECT_EQ(visit_once(quick(kernel::semi), {0.02, 1, 60}).singles.size(), 4u);
  EXPECT_EQ(visit_once(quick(kernel::bi), {0.02, 1, 60}).singles.size(), 8u);
  EXPECT_EQ(visit_once(quick(kernel::uni), {0.02, 1, 60}).singles.size(), 0u);
}

TEST(Encounter, StopsTimingSingleMessagesWhenTheBudgetHasPassed) {
  EXPECT_EQ(visit_once(quick(kernel::semi), {0.02, 1, 0}).singles.size(), 2u);
}

TEST(Encounter, WorksWithoutWarmUpWithoutSinglesAndWithoutACheck) {
  options how = quick(kernel::bi);
  how.warmup = how.singles = 0;
  how.check = false;
  const visited v = visit_once(how, {0.02, 1, 1});
  EXPECT_EQ(v.times.size(), 1u);
  EXPECT_TRUE(v.singles.empty());
}

TEST(Encounter, TakesOneOfSeveralBuffersBySeedAndNumberAndNeverBetweenTwo) {
  options how = quick(kernel::uni);
  how.sizes = {8, 3000};
  how.window = 3;
  how.buffers = 5;
  std::vector<std::byte> send(send_bytes(how)), receive(receive_bytes(how));
  EXPECT_EQ(send.size(), 5u * 4096);
  EXPECT_EQ(receive.size(), 5u * 3 * 4096) << "three slots of 3000 bytes take three pages";
  std::set<std::ptrdiff_t> places;
  for (std::uint64_t visit = 0; visit < 100; ++visit) {
    const kernel_buffers one = buffers_of({send, receive}, how, visit, 3000);
    EXPECT_EQ(one.receive.size(), 9000u);
    const std::ptrdiff_t at = one.send.data() - send.data();
    EXPECT_EQ(at % 4096, 0);
    EXPECT_EQ(one.receive.data() - receive.data(), 3 * at) << "both sides find the same one";
    places.insert(at);
  }
  EXPECT_EQ(places.size(), 5u);
  const std::byte* const before = buffers_of({send, receive}, how, 1, 8).send.data();
  EXPECT_EQ(buffers_of({send, receive}, how, 1, 8).send.data(), before);
}

}  // namespace
}  // namespace heddle::linktest
