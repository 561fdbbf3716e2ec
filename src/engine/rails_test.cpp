// SPDX-License-Identifier: BSD-3-Clause
// rails_test.cpp - peers that are reached over several rails: large transfers use all of them, and
// everything else keeps its order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heddle/heddle.h>

#include <string>
#include <thread>
#include <vector>

#include "support/ranks.h"
#include "support/refusal.h"

namespace heddle::test {
namespace {

constexpr std::size_t mib = 1024 * 1024;

settings over(const std::string& interfaces) {
  settings s = settings_for("tcp");
  s.others["HEDDLE_TCP_IFACE"] = interfaces;
  return s;
}

class Rails : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Modes, Rails, testing::Values("adaptive", "inline", "dedicated", "idle"));

TEST_P(Rails, LargePutsGetsAndMessagesGoOverAllOfThem) {
  settings config = over("127.0.0.1,127.0.0.2,127.0.0.1");
  config.progress = GetParam();
  run_ranks(2, config, [](world& w) {
    auto area = w.symmetric<std::byte>(8 * mib);
    lane l(w);
    const rank peer = 1 - w.rank();
    const auto mine = pattern(8 * mib, w.rank() + 1), theirs = pattern(8 * mib, peer + 1);
    ASSERT_EQ(l.put(mine, area.at(peer).address), status::done);
    w.barrier();
    EXPECT_TRUE(std::equal(theirs.begin(), theirs.end(), area.local().begin()));
    std::vector<std::byte> back(8 * mib);
    ASSERT_EQ(l.get(back, area.at(peer).address), status::done);
    EXPECT_TRUE(back == mine);
    flag got;
    std::vector<std::byte> into(8 * mib);
    ASSERT_EQ(l.try_recv(peer, 1, into, got), status::posted);
    ASSERT_EQ(l.send(peer, 1, mine), status::done);
    ASSERT_EQ(l.wait(got), status::done);
    EXPECT_TRUE(into == theirs);
    EXPECT_THAT(w.describe(), testing::ContainsRegex("lane 0 .*stripes [1-9][0-9]"));
    w.barrier();
  });
}

TEST(RailsOfUnequalRanks, ThoseThatBothHaveAreUsed) {
  auto sessions = bootstrap::local_group(2);
  std::vector<std::thread> ranks;
  for (rank r = 0; r < 2; ++r)
    ranks.emplace_back([&, r] {
      world w(engine::make_world(std::move(sessions[static_cast<std::size_t>(r)]),
                                 over(r == 0 ? "lo,lo,lo" : "lo,::1")));
      auto area = w.symmetric<std::byte>(mib);
      lane l(w);
      const auto mine = pattern(mib, r + 1);
      EXPECT_EQ(l.put(mine, area.at(1 - r).address), status::done);
      w.barrier();
      EXPECT_TRUE(area.local()[0] == pattern(mib, 2 - r)[0]);
      EXPECT_THAT(w.describe(), testing::HasSubstr("stripes 0,"));  // rail 1: not one IP version
      w.barrier();
    });
  for (std::thread& t : ranks) t.join();
}

TEST(ARailThatIsNamed, IsTheOnlyOneOfItsBackendThatIsUsed) {
  settings config = over("127.0.0.1,127.0.0.2,127.0.0.3");
  config.backends = "tcp.rail1";
  run_ranks(2, config, [](world& w) {
    const rank peer = 1 - w.rank();
    EXPECT_EQ(w.route(peer), "tcp.rail1");
    auto area = w.symmetric<std::byte>(2 * mib);
    lane l(w);
    const auto mine = pattern(2 * mib, w.rank() + 1);
    ASSERT_EQ(l.put(mine, area.at(peer).address), status::done);
    w.barrier();
    EXPECT_TRUE(area.local()[0] == pattern(mib, peer + 1)[0]);
    EXPECT_THAT(w.describe(), testing::HasSubstr("stripes 0,"));
  });
}

TEST(ARailThatIsNamed, AndIsNotThereIsToldWithHowManyThereAre) {
  settings config = over("127.0.0.1,127.0.0.2");
  config.backends = "tcp.rail2";
  const auto join = [&] {
    world(engine::make_world(std::move(bootstrap::local_group(1).front()), config));
  };
  EXPECT_THAT(refusal(join),
              testing::HasSubstr("tcp: it has 2 rails here, counted from 0, and HEDDLE_BACKENDS "
                                 "names rail 2"));
}

}  // namespace
}  // namespace heddle::test
