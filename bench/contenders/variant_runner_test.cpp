// SPDX-License-Identifier: BSD-3-Clause
// variant_runner_test.cpp - Heddle's command line when it is its own rival, and what it makes of
// it.
#include "contenders/variant_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::bench {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::IsSupersetOf;
using testing::Not;

rival_task shared_lanes() {
  return {.what = {.what = kind::rate, .op = operation::get, .bytes = 64, .threads = 4, .lanes = 2},
          .backend = "utofu",
          .cores = {0, 1}};
}

TEST(VariantCommand, MeasuresTheSameInAnotherWay) {
  const command c = variant_command(rival::lock, shared_lanes(), "/scratch/one");
  EXPECT_THAT(c.arguments, IsSupersetOf({"bench", "rate", "--op", "get", "--sizes", "64",
                                         "--threads", "4", "--lanes", "2", "--backend", "utofu"}));
  EXPECT_THAT(c.arguments, Contains("--lock-lanes"));
  EXPECT_THAT(c.settings, Not(Contains("HEDDLE_RCACHE=off")));
  const command uncached = variant_command(rival::uncached, shared_lanes(), "/scratch/one");
  EXPECT_THAT(uncached.settings, Contains("HEDDLE_RCACHE=off"));
  EXPECT_THAT(uncached.arguments, Not(Contains("--lock-lanes")));
}

TEST(VariantCommand, UnloadedHasNothingBesideIt) {
  const rival_task t{.what = {.op = operation::tag, .beside_bytes = 1024}, .backend = "shm"};
  EXPECT_THAT(variant_command(rival::unloaded, t, "/s").arguments, Not(Contains("--beside")));
}

TEST(VariantCommand, IsAJobOfItsOwn) {
  const command c = variant_command(rival::lock, shared_lanes(), "/scratch/one");
  EXPECT_THAT(c.without, IsSupersetOf({"HEDDLE_BOOT_FD", "HEDDLE_RANK", "HEDDLE_SIZE"}));
  EXPECT_THAT(c.settings, Contains("SOFTTOFU_JOB=one"));
}

TEST(VariantCommand, BindsOnlyWhereWeAreBound) {
  rival_task t = shared_lanes();
  EXPECT_THAT(variant_command(rival::lock, t, "/s").arguments, Contains("core"));
  t.cores.clear();
  EXPECT_THAT(variant_command(rival::lock, t, "/s").arguments, Contains("none"));
}

TEST(VariantCommand, OfGupsSaysItsMemoryAndWay) {
  rival_task t = shared_lanes();
  t.what.what = kind::gups;
  t.what.memory_bytes = 4096;
  t.what.atomic = true;
  const command c = variant_command(rival::lock, t, "/s");
  EXPECT_THAT(c.arguments, IsSupersetOf({"bench", "gups", "--memory", "4096", "--atomic"}));
  EXPECT_THAT(c.arguments, Not(Contains("--op")));
}

record of(const std::string& library, const std::string& metric, double median) {
  record r;
  r.library = library;
  r.metric = metric;
  r.median = median;
  return r;
}

TEST(VariantRecords, GiveTheFiguresOfHeddle) {
  EXPECT_EQ(figures_in({of("bare", "rate", 1), of("heddle", "rate", 20)}, {.what = kind::rate}),
            std::vector<double>{20});
  EXPECT_EQ(figures_in({of("heddle", "updates", 0.002), of("heddle", "lost_updates", 0)},
                       {.what = kind::gups}),
            (std::vector<double>{0.002, 0}));
}

TEST(VariantRecords, ThatAreMissingAreAFailure) {
  EXPECT_THROW((void)figures_in({}, {.what = kind::rate}), rival_failure);
}

}  // namespace
}  // namespace heddle::bench
