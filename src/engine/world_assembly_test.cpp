// SPDX-License-Identifier: BSD-3-Clause
#include "engine/world_assembly.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "support/blobs.h"
#include "support/refusal.h"

namespace heddle::engine {
namespace {

using testing::HasSubstr;

/// Where the launcher stays, so that no lane is needed.
void run_assemblies(int size, const std::function<void(world_assembly& all, rank self)>& body) {
  std::vector<std::thread> ranks;
  for (auto& session : bootstrap::local_group(size)) {
    ranks.emplace_back([&body, s = std::move(session)] {
      world_lanes none([](int) -> std::unique_ptr<lane_core> { return nullptr; }, [](int) {},
                       false);
      world_assembly all(*s, none, nullptr);
      body(all, s->info().rank);
    });
  }
  for (std::thread& t : ranks) t.join();
}

TEST(WorldAssembly, NamesARankThatClaimsSomethingElse) {
  run_assemblies(2, [](world_assembly& all, rank self) {
    const world_assembly::turn turn(all);
    EXPECT_FALSE(all.find_dissent({.bytes = 8}).has_value());
    const auto other = all.find_dissent({.bytes = static_cast<std::uint64_t>(self)});
    ASSERT_TRUE(other.has_value());
    EXPECT_EQ(other->who, 1 - self);
    EXPECT_FALSE(other->greatest_number.has_value());
  });
}

TEST(WorldAssembly, KnowsTheGreatestWhereRanksDifferInTheNumberOnly) {
  run_assemblies(2, [](world_assembly& all, rank self) {
    const world_assembly::turn turn(all);
    const auto other = all.find_dissent({.bytes = 8, .number = self == 0 ? 7u : 5u});
    ASSERT_TRUE(other.has_value());
    EXPECT_EQ(other->greatest_number, 7u);
  });
}

TEST(WorldAssembly, RefusesAnExchangeWhileAnotherRankMakesAnotherCall) {
  run_assemblies(2, [](world_assembly& all, rank self) {
    if (self == 0) {
      EXPECT_THAT(test::refusal([&] { (void)all.exchange({}); }),
                  HasSubstr("rank 1 makes another call"));
      return;
    }
    const world_assembly::turn turn(all);
    EXPECT_EQ(all.find_dissent({.bytes = 8}).value_or(dissent{-1}).who, 0);
  });
}

TEST(WorldAssembly, IsUnderWayWhileAThreadHasATurn) {
  run_assemblies(1, [](world_assembly& all, rank) {
    EXPECT_FALSE(all.is_under_way());
    {
      const world_assembly::turn turn(all);
      EXPECT_TRUE(all.is_under_way());
    }
    all.barrier();
    EXPECT_FALSE(all.is_under_way());
  });
}

}  // namespace
}  // namespace heddle::engine
