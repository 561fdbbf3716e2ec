// SPDX-License-Identifier: BSD-3-Clause
// routes_test.cpp - which backend carries what is for a peer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heddle/heddle.h>

#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "support/ranks.h"

namespace heddle::test {
namespace {

void expect_route(const std::string& backends, const std::string& route) {
  run_ranks(2, settings_for(backends),
            [&](world& w) { EXPECT_EQ(w.route(1 - w.rank()), route) << backends; });
}

TEST(Routes, TheFirstNamedBackendThatReachesAPeerCarriesWhatIsForIt) {
  expect_route("shm,tcp", "shm");
  expect_route("tcp,shm", "tcp");
}

TEST(Routes, ABackendThatIsNotThereIsPassedOverAndSaysWhy) {
  run_ranks(2, settings_for("absent,tcp"), [](world& w) {
    EXPECT_EQ(w.route(1 - w.rank()), "tcp");
    EXPECT_THAT(w.describe(), testing::ContainsRegex("absent +not usable: .*backend_absent.so"));
  });
}

/// Rank 0 prefers shm and rank 1 tcp, so that each is reached by a device over which it reaches
/// nobody itself.
void run_crosswise(const char* progress, const std::function<void(world&)>& body) {
  auto sessions = bootstrap::local_group(2);
  std::vector<std::thread> ranks;
  for (rank r = 0; r < 2; ++r)
    ranks.emplace_back([&, r] {
      settings config = settings_for(r == 0 ? "shm,tcp" : "tcp,shm");
      config.progress = progress;
      config.executors = 2;
      world w(engine::make_world(std::move(sessions[static_cast<std::size_t>(r)]), config));
      body(w);
      w.barrier();
    });
  for (std::thread& t : ranks) t.join();
}

class CrosswiseRoutes : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Modes, CrosswiseRoutes,
                         testing::Values("adaptive", "inline", "dedicated", "idle"));

TEST_P(CrosswiseRoutes, APeerIsHeardOnADeviceOverWhichNothingIsSent) {
  run_crosswise(GetParam(), [](world& w) {
    EXPECT_EQ(w.route(1 - w.rank()), w.rank() == 0 ? "shm" : "tcp");
    for (const int number : {0, 3}) {
      lane l(w, {.number = number, .exclusive = number == 3});
      for (int i = 0; i < 20; ++i) {
        const auto data = pattern(i * 1000, 1);
        std::vector<std::byte> into(data.size());
        flag got;
        ASSERT_EQ(l.try_recv(1 - w.rank(), 1, into, got), status::posted);
        ASSERT_EQ(l.send(1 - w.rank(), 1, data), status::done);
        ASSERT_EQ(l.wait(got), status::done);
        ASSERT_EQ(into, data);
      }
      w.barrier();
    }
  });
}

}  // namespace
}  // namespace heddle::test
