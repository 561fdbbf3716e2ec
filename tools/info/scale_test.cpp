// scale_test.cpp - a join of which one rank is real.
#include "info/scale.h"

#include <gtest/gtest.h>
#include <heddle/status.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/socket.h>

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
  const scale_job job{.ranks = 3000, .per_host = 1};
  const auto mine = bytes_of("heddle-2\nd9c6a1f2-boot\nname\n1\n");
  std::set<bootstrap::blob> seen;
  for (int rank = 0; rank < job.ranks; ++rank) {
    const auto theirs = gift_of(job, rank, mine);
    EXPECT_EQ(theirs.size(), mine.size());
    seen.insert(theirs);
  }
  EXPECT_EQ(seen.size(), 3000u);
  EXPECT_EQ(gift_of(job, job.measured_host(), mine), mine);
}

TEST(ScaleModel, ItsStoreAnswersAsLeadersAndMembersDoAndCounts) {
  const scale_job job{.ranks = 12, .per_host = 3};
  store_traffic seen;
  model_store store(job, "name", nullptr, seen);
  const auto mine = bytes_of("address");
  store.give(mine);
  auto value = store.get(6, "heddle-1");
  ASSERT_EQ(value.front(), bootstrap::store_version);
  bootstrap::host_gifts all(12);
  EXPECT_TRUE(all.add(std::span(value).subspan(1)));
  EXPECT_TRUE(all.has(8));
  EXPECT_FALSE(all.has(9));
  value = store.get(8, "heddle-1");
  EXPECT_EQ(bootstrap::host_gifts::decode_leader(std::span(value).subspan(1)), 6);
  EXPECT_EQ(seen.gets, 2u);
  EXPECT_GT(seen.got_bytes, 3 * mine.size());
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

TEST(Scale, ALargerJobTakesMoreOfWhatGrowsWithIt) {
  if (!has_network()) GTEST_SKIP() << "this host has no network but loopback";
  const join_cost few = measure_leader({.ranks = 10}), many = measure_leader({.ranks = 4000});
  EXPECT_GT(many.launcher.got_bytes, 100 * few.launcher.got_bytes);
  EXPECT_GT(many.kept_bytes, few.kept_bytes);
  EXPECT_EQ(many.host_messages, 0u);
}

}  // namespace
}  // namespace heddle::tools
