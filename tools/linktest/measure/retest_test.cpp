// SPDX-License-Identifier: BSD-3-Clause
// retest_test.cpp - retests over ranks that are threads: who asks gets a time for each probe.
#include "linktest/measure/retest.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "linktest/measure/test_fabric.h"

namespace heddle::linktest {
namespace {

options quick(kernel k) {
  options o;
  o.kernel = k;
  o.messages = 3;
  o.warmup = 1;
  o.sizes = {16};
  o.search.diagnose = diagnosis_choice::always;  // the ranks are threads, and cores are few
  return o;
}

/// On all ranks of `fabric`: rank 0 does `asking(again)` and ends it, the others serve. Before each
/// probe a rank looks whether `stop(rank)`.
template <class Asking>
void run_retest(test_fabric& fabric, const options& how, const std::function<bool(rank)>& stop,
                const Asking& asking) {
  fabric.run([&](messenger& wire) {
    meeting ranks(wire);
    std::vector<std::byte> send(16), receive(receive_bytes(how));
    const message_memory memory{send, receive};
    const plan steps = plan_of(how, wire.size());
    retest again(ranks, how, memory, steps, 0, [&] { return stop(wire.self()); });
    if (wire.self() != 0) return again.serve();
    asking(again);
    again.end();
  });
}

/// Has rank 0 of `fabric` ask for `wanted`; the times it got.
std::vector<float> ask(test_fabric& fabric, const options& how, const std::vector<probe>& wanted) {
  std::vector<float> got;
  run_retest(
      fabric, how, [](rank) { return false; },
      [&](retest& again) {
        got = again.ask(wanted, 16);
        const auto twice = again.ask(wanted, 16);
        EXPECT_EQ(twice.size(), wanted.size());
      });
  return got;
}

TEST(Retest, GivesATimeForEachProbeAloneAndInItsStepForEveryKernel) {
  for (const kernel k : {kernel::semi, kernel::bi, kernel::uni}) {
    test_fabric fabric(4);
    const options how = quick(k);
    std::vector<probe> wanted;
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b < 4; ++b)
        if (a != b) wanted.push_back({a, b, -1, -1});
    const plan steps = plan_of(how, 4);
    for (std::int32_t s = 0; s < 3; ++s)
      for (int a = 0; a < 4; ++a)
        wanted.push_back({a, static_cast<int>(steps.partner(a, 0, s)), -1, s});
    const auto got = ask(fabric, how, wanted);
    ASSERT_EQ(got.size(), wanted.size());
    for (const float t : got) EXPECT_GT(t, 0);
  }
}

TEST(Retest, LeavesOutTheProbesBehindTheOneAtWhichAnyRankIsToldToStop) {
  test_fabric fabric(3);
  const options how = quick(kernel::uni);
  std::vector<float> got;
  int looks = 0;  // of rank 1
  run_retest(
      fabric, how, [&looks](rank r) { return r == 1 && ++looks > 2; },
      [&](retest& again) {
        got = again.ask(
            std::vector<probe>{{0, 1, -1, -1}, {1, 2, -1, -1}, {2, 0, -1, -1}, {0, 2, -1, -1}}, 16);
        EXPECT_TRUE(again.stopped());
      });
  ASSERT_EQ(got.size(), 4u);
  EXPECT_GT(got[0], 0);
  EXPECT_GT(got[1], 0);
  EXPECT_TRUE(std::isnan(got[2]));
  EXPECT_TRUE(std::isnan(got[3]));
}

TEST(Retest, MarksProbesOfARankThatCannotBeReachedAndEnds) {
  test_fabric fabric(4);
  fabric.cut(1, 2);
  const auto got = ask(fabric, quick(kernel::semi), {{1, 2, -1, -1}, {0, 3, -1, -1}});
  ASSERT_EQ(got.size(), 2u);
  EXPECT_TRUE(std::isnan(got[0]));
  EXPECT_GT(got[1], 0);
}

}  // namespace
}  // namespace heddle::linktest
