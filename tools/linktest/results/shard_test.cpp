// SPDX-License-Identifier: BSD-3-Clause
// shard_test.cpp - records survive whatever is cut off, mixed in or flipped around them.
#include "linktest/results/shard.h"

#include <gtest/gtest.h>

#include <random>

namespace heddle::linktest {
namespace {

measured_visit visit_to(int peer, std::size_t times) {
  measured_visit v;
  v.run = 0x1234567890abcdef;
  v.hosts = hosts_mark("alpha", "beta");
  v.initiator = 3;
  v.peer = peer;
  v.size_index = 1;
  v.repetition = 2;
  v.state = pair_state::corrupted;
  for (std::size_t i = 0; i < times; ++i) v.times.push_back(1e-6F * static_cast<float>(i + 1));
  if (times > 1) v.singles = sketch_of(v.times);
  return v;
}

std::string records_of(const std::vector<measured_visit>& visits) {
  std::string out;
  for (const measured_visit& v : visits) out += to_record(v);
  return out;
}

TEST(Shard, GivesBackWhatWasWritten) {
  const std::string bytes = records_of({visit_to(0, 0), visit_to(1, 1), visit_to(2, 40)});
  const auto found = visits_in(bytes);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(records_of(found), bytes);
  EXPECT_EQ(found[2].times.size(), 40u);
  EXPECT_EQ(found[2].state, pair_state::corrupted);
}

TEST(Shard, LeavesOutARecordThatIsTornAnywhereAndKeepsThoseAroundIt) {
  const std::string whole = to_record(visit_to(1, 3)), before = to_record(visit_to(0, 2)),
                    behind = to_record(visit_to(2, 2));
  for (std::size_t cut = 0; cut < whole.size(); ++cut)
    EXPECT_EQ(records_of(visits_in(before + whole.substr(0, cut) + behind)), before + behind)
        << "cut after " << cut << " bytes";
}

TEST(Shard, LeavesOutARecordWithAnyBitFlipped) {
  const std::string whole = to_record(visit_to(1, 3)), behind = to_record(visit_to(2, 2));
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
    EXPECT_EQ(records_of(visits_in(flipped + behind)), behind) << "bit " << bit;
  }
}

TEST(Shard, FindsOnlyRecordsThatWereWrittenInRandomlyDamagedBytes) {
  std::mt19937 dice(1);
  const std::vector<measured_visit> written{visit_to(0, 1), visit_to(1, 5), visit_to(2, 0),
                                            visit_to(3, 9)};
  const std::string bytes = records_of(written);
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = bytes;
    for (unsigned i = dice() % 8; i > 0; --i) {
      const std::size_t at = dice() % damaged.size();
      switch (dice() % 3) {
        case 0:
          damaged[at] = static_cast<char>(dice());
          break;
        case 1:
          damaged.erase(at, dice() % 20);
          break;
        default:
          damaged.insert(at, damaged.substr(dice() % damaged.size(), dice() % 20));
      }
    }
    for (const measured_visit& v : visits_in(damaged))
      EXPECT_NE(bytes.find(to_record(v)), std::string::npos) << "round " << round;
  }
}

TEST(Shard, TellsTheHostsOfAPairApartAndTheirOrder) {
  EXPECT_NE(hosts_mark("alpha", "beta"), hosts_mark("beta", "alpha"));
  EXPECT_NE(hosts_mark("ab", "c"), hosts_mark("a", "bc"));
  EXPECT_EQ(hosts_mark("alpha", "beta"), hosts_mark("alpha", "beta"));
}

}  // namespace
}  // namespace heddle::linktest
