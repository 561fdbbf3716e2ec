// SPDX-License-Identifier: BSD-3-Clause
// scale_test.cpp - a join of which one rank is real.
#include "info/scale.h"

#include <gtest/gtest.h>
#include <heddle/status.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/socket.h>

#include <algorithm>
#include <set>
#include <string>
#include <thread>

#include "bootstrap/host_gifts.h"

namespace heddle::tools {
namespace {

bootstrap::blob bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// Where the made-up hosts can be reached: an address that is not loopback.
bool has_network() {
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return false;
  bool found = false;
  for (const ifaddrs* i = all; i != nullptr; i = i->ifa_next) {
    const bool inet = i->ifa_addr != nullptr &&
                      (i->ifa_addr->sa_family == AF_INET || i->ifa_addr->sa_family == AF_INET6);
    found = found || (inet && (i->ifa_flags & IFF_UP) != 0 && (i->ifa_flags & IFF_LOOPBACK) == 0);
  }
  freeifaddrs(all);
  return found;
}

TEST(ScaleJob, FillsHostAfterHost) {
  const scale_job job{.ranks = 10, .per_host = 4};
  EXPECT_EQ(job.hosts(), 3);
  EXPECT_EQ(job.host_of(7), 1);
  EXPECT_EQ(job.end_of(0), 4);
  EXPECT_EQ(job.end_of(2), 10);
}

TEST(ScaleModel, RanksOfOtherHostsIntroduceThemselvesWithOtherHostsOfTheSameLength) {
  const scale_job job{.ranks = 3000, .per_host = 1, .measured_host = 1500};
  const auto mine = bytes_of("heddle-3\nd9c6a1f2-and more");
  std::set<bootstrap::blob> seen;
  for (int rank = 0; rank < job.ranks; ++rank) {
    const auto theirs = gift_of(job, rank, mine);
    EXPECT_EQ(theirs.size(), mine.size());
    seen.insert(theirs);
  }
  EXPECT_EQ(seen.size(), 3000u);
  EXPECT_EQ(gift_of(job, 1500, mine), mine);
}

/// The ranks whose gifts `value` holds; empty: it is no such value.
std::set<int> ranks_in(const bootstrap::blob& value, int size) {
  std::set<int> found;
  const auto take = [&](int rank, std::span<const std::byte>) { found.insert(rank); };
  const bool sound = value.front() == bootstrap::store_version &&
                     bootstrap::host_gifts::decode(std::span(value).subspan(1), size, take);
  return sound ? found : std::set<int>();
}

TEST(ScaleModel, ItsStoreAnswersAsLeadersAndMembersDoAndCounts) {
  const scale_job job{.ranks = 12, .per_host = 3};
  store_traffic seen;
  model_store store(job, "name", nullptr, seen);
  store.give(bytes_of("address"));
  EXPECT_EQ(ranks_in(store.get(6, bootstrap::gifts_key(1)), 12), (std::set{6, 7, 8}));
  const auto pointer = store.get(8, bootstrap::gifts_key(1));
  EXPECT_EQ(bootstrap::host_gifts::decode_leader(std::span(pointer).subspan(1)), 6);
  EXPECT_EQ(seen.gets, 2u);
  EXPECT_GT(seen.got_bytes, 3u * 7);
}

TEST(ScaleModel, ItsStoreHasTheGroupsAndTheTableOfLargeJobs) {
  const scale_job job{.ranks = 5000, .per_host = 4};
  store_traffic seen;
  model_store store(job, "name", nullptr, seen);
  store.give(bytes_of("address"));
  const auto group = ranks_in(store.get(64, bootstrap::group_key(1, 1, 1)), 5000);
  EXPECT_EQ(group.size(), 64u);
  EXPECT_EQ(*group.begin(), 64);
  EXPECT_EQ(ranks_in(store.get(4096, bootstrap::group_key(1, 2, 1)), 5000).size(), 5000u - 4096);
  auto piece = store.get(0, bootstrap::piece_key(1, 0));
  piece.erase(piece.begin(), piece.begin() + 5);  // version, and how many pieces
  const auto all = bootstrap::gathered::decode(std::move(piece), 5000);
  ASSERT_TRUE(all);
  EXPECT_TRUE(std::ranges::equal((*all)[4999], bytes_of("address")));
}

TEST(Lockstep, MeetsAsOftenAsTheOtherAndHearsItsEnd) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  std::thread other([end = ends[1]] {
    lockstep there{unique_fd(end)};
    there.meet();
    there.tell(bytes_of("x"));
  });
  lockstep here{unique_fd(ends[0])};
  here.let_ahead();
  here.meet();
  EXPECT_EQ(here.hear(), bytes_of("x"));
  other.join();
  EXPECT_FALSE(here.hear());
  EXPECT_THROW(here.meet(), error);
}

TEST(Scale, ALeaderHearsFromEachOfItsRanksAndAnotherRankFromItsLeaderOnly) {
  if (!has_network()) GTEST_SKIP() << "this host has no network but loopback";
  const scale_job job{.ranks = 40, .per_host = 4};
  const join_cost leader = measure_leader(job), member = measure_member(job);
  EXPECT_EQ(leader.host_messages % 3, 0u);
  EXPECT_GE(leader.host_messages, 3 * 2 * 3u);  // three others, both ways, join and two exchanges
  EXPECT_EQ(leader.host_messages, 3 * member.host_messages);
  EXPECT_EQ(member.launcher.gets, 1u);  // the secret
  EXPECT_EQ(member.launcher.fences, leader.launcher.fences);
  EXPECT_GE(leader.most_bytes, leader.kept_bytes);
  EXPECT_GT(leader.kept_bytes, 0);
}

TEST(Scale, WithoutALauncherOneRankOfAHostSpeaksWithRankZero) {
  if (!has_network()) GTEST_SKIP() << "this host has no network but loopback";
  const meeting_point_traffic alone = measure_meeting_point({.ranks = 40, .measured_host = 20}),
                              four = measure_meeting_point(
                                  {.ranks = 160, .per_host = 4, .measured_host = 20});
  EXPECT_EQ(alone.from_zero, alone.to_zero + 1);  // that all have come
  EXPECT_EQ(four.from_zero, alone.from_zero);
  EXPECT_LE(four.to_zero, alone.to_zero + 3);  // at most a word for each that comes late
  EXPECT_GT(four.from_zero_bytes, 3 * alone.from_zero_bytes);
}

TEST(Scale, ALargerJobTakesMoreMemoryAndHardlyMoreMessages) {
  if (!has_network()) GTEST_SKIP() << "this host has no network but loopback";
  for (const int host : {0, 7}) {
    const join_cost few = measure_leader({.ranks = 500, .measured_host = host}),
                    many = measure_leader({.ranks = 50'000, .measured_host = host});
    EXPECT_GT(many.kept_bytes, few.kept_bytes);
    EXPECT_GT(many.launcher.got_bytes, 50 * few.launcher.got_bytes);
    EXPECT_LT(many.launcher.gets, 4 * few.launcher.gets);
    EXPECT_EQ(many.host_messages, 0u);
  }
}

TEST(Scale, AnIdlePeerTakesNoMoreThan64BytesHoweverManyLanesThereAre) {
  if (!has_network()) GTEST_SKIP() << "this host has no network but loopback";
  const join_cost few = measure_leader({.ranks = 2'000, .measured_host = 7}),
                  many = measure_leader({.ranks = 50'000, .measured_host = 7});
  EXPECT_GT(many.kept_by_lanes, many.kept_bytes + many_lanes * 4096);
  EXPECT_LE(many.kept_bytes - few.kept_bytes, 48'000 * 64);
  EXPECT_LE(many.kept_by_lanes - few.kept_by_lanes, 48'000 * 64);
}

}  // namespace
}  // namespace heddle::tools
