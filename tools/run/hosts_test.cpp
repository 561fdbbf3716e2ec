// SPDX-License-Identifier: BSD-3-Clause
#include "run/hosts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exit_status.h"

namespace heddle::tools {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// As parse_hosts would read it back.
std::string text_of(const std::vector<host_slots>& hosts) {
  std::string text;
  for (const auto& host : hosts)
    text += (text.empty() ? "" : ",") + host.name + "=" + std::to_string(host.slots);
  return text;
}

TEST(Hosts, AListHasNamesWithNumbersOfRanks) {
  EXPECT_EQ(text_of(parse_hosts("a:4,b:2,c")), "a=4,b=2,c=1");
  EXPECT_EQ(text_of(parse_hosts("me@node-1.example.org:16")), "me@node-1.example.org=16");
}

TEST(Hosts, AHostThatComesTwiceTakesBoth) {
  EXPECT_EQ(text_of(parse_hosts("a,b:3,a:2")), "a=3,b=3");
}

TEST(Hosts, AddressesOfBothFamiliesAreHosts) {
  EXPECT_EQ(text_of(parse_hosts("10.0.0.1:2,[fd88::1]:3,fd88::2,[fd88::4]")),
            "10.0.0.1=2,fd88::1=3,fd88::2=1,fd88::4=1");
}

TEST(Hosts, SlurmsNodeListsAreExpanded) {
  EXPECT_EQ(text_of(parse_hosts("n[1-3,7]")), "n1=1,n2=1,n3=1,n7=1");
  EXPECT_EQ(text_of(parse_hosts("n[08-10]:4,login")), "n08=4,n09=4,n10=4,login=1");
  EXPECT_EQ(text_of(parse_hosts("r[1-2]n[0,5]-ib:2")), "r1n0-ib=2,r1n5-ib=2,r2n0-ib=2,r2n5-ib=2");
}

TEST(Hosts, AreAsManyAndHaveAsLargeNumbersAsThereAre) {
  EXPECT_EQ(text_of(parse_hosts("n[2147483646-2147483647]")), "n2147483646=1,n2147483647=1");
  EXPECT_EQ(parse_hosts("n[0-999999]").back().name, "n999999");
}

class NoHosts : public testing::TestWithParam<const char*> {};

TEST_P(NoHosts, AreRefused) {
  EXPECT_THROW((void)parse_hosts(GetParam()), usage_error);
}

INSTANTIATE_TEST_SUITE_P(Hosts, NoHosts,
                         testing::Values("", ",", "a,,b", "a:", "a:0", "a:-1", "a:x", "a:1000001",
                                         "a:99999999999", "-oProxyCommand=x", "a b", "a;b", "$(x)",
                                         "n[1-3", "n]1[", "n[3-1]", "n[]", "n[a-b]", "n[1-9999999]",
                                         "n[1-4000][1-4000]", "[fd88::1", "@", ":4"));

TEST(Hosts, WhatIsWrongIsNamedWithTheCure) {
  EXPECT_THAT(
      [] { (void)parse_hosts("a:4,b:four"); },
      ThrowsMessage<usage_error>(HasSubstr("'b:four': 'four' is no number of ranks; write")));
}

TEST(Hostfile, IsReadAsOpenMpiWritesIt) {
  EXPECT_EQ(text_of(parse_hostfile("# my cluster\n"
                                   "n1 slots=4 max_slots=8\n"
                                   "\n"
                                   "n2\tslots = 2  # the slow one\r\n"
                                   "n3\n"
                                   "n3\n",
                                   "hosts")),
            "n1=4,n2=2,n3=2");
}

TEST(Hostfile, KnowsOpenMpisOtherWordsForTheSame) {
  EXPECT_EQ(text_of(parse_hostfile("n1 cpu=4 slots-max=8  // the fast one\n"
                                   "// n9\n"
                                   "n2 count = 2 max_count=2\n"
                                   "n3 slots=3 boards=1 sockets_per_board=2 cores-per-socket=4\n",
                                   "hosts")),
            "n1=4,n2=2,n3=3");
}

TEST(Hostfile, ACommentBetweenSlashAndStarEndsWhereItSays) {
  EXPECT_EQ(text_of(parse_hostfile("/* the cluster,\n"
                                   "n8 // n9 # */ n1 /**/ slots=/* four */4\n"
                                   "// /*\n"
                                   "n2# /* n7\n"
                                   "n3/* a space */slots=2\n",
                                   "hosts")),
            "n1=4,n2=1,n3=2");
}

TEST(Hostfile, LinesAreCountedThroughComments) {
  EXPECT_THAT([] { (void)parse_hostfile("n1 /* two\nlines */ slots=2\nn2 slot=4\n", "f"); },
              ThrowsMessage<usage_error>(HasSubstr("f, line 2: ")));
  EXPECT_THAT([] { (void)parse_hostfile("/*\n*/\nn1 slot=4\n", "f"); },
              ThrowsMessage<usage_error>(HasSubstr("f, line 3: 'slot=4'")));
  EXPECT_THAT([] { (void)parse_hostfile("n1\nn2 /* the\nend\n", "f"); },
              ThrowsMessage<usage_error>(HasSubstr("f, line 2: a comment has no end, '*/'")));
}

TEST(Hostfile, IsReadAsMpichWritesIt) {
  EXPECT_EQ(text_of(parse_hostfile("n1:4\nn2:2 ifname=eth1\nn3 binding=user:0,1", "hosts")),
            "n1=4,n2=2,n3=1");
}

TEST(Hostfile, TheUserOfALineLogsInOnItsHosts) {
  EXPECT_EQ(text_of(parse_hostfile("n1 slots=4 user=me\n"
                                   "n1 user = me slots=2\n"
                                   "n[2-3]:2 username=you\n"
                                   "[fd88::1]:3 user_name=you\n"
                                   "n4\n",
                                   "hosts")),
            "me@n1=6,you@n2=2,you@n3=2,you@fd88::1=3,n4=1");
}

TEST(Hostfile, AUserThatIsNoneOrComesTwiceIsNamed) {
  EXPECT_THAT([] { (void)parse_hostfile("n1\nn2 user=\n", "my-hosts"); },
              ThrowsMessage<usage_error>(HasSubstr("my-hosts, line 2: 'user=' names no user")));
  EXPECT_THROW((void)parse_hostfile("n1 user\n", "f"), usage_error);
  EXPECT_THROW((void)parse_hostfile("n1 user=-oProxyCommand\n", "f"), usage_error);
  EXPECT_THROW((void)parse_hostfile("n1 user=$(x)\n", "f"), usage_error);
  EXPECT_THAT([] { (void)parse_hostfile("me@n1 user=you\n", "f"); },
              ThrowsMessage<usage_error>(
                  HasSubstr("f, line 1: 'me@n1' has a user already: leave out 'user=you'")));
}

TEST(Hostfile, MayHoldNodeLists) {
  EXPECT_EQ(text_of(parse_hostfile("n[1-2] slots=3\nn[7,9]:2\n", "hosts")), "n1=3,n2=3,n7=2,n9=2");
}

TEST(Hostfile, ALineThatIsNotUnderstoodIsNamed) {
  EXPECT_THAT(
      [] { (void)parse_hostfile("n1\nn2 slot=4\n", "my-hosts"); },
      ThrowsMessage<usage_error>(HasSubstr("my-hosts, line 2: 'slot=4' is not understood")));
  EXPECT_THROW((void)parse_hostfile("n1 slots\n", "f"), usage_error);
}

TEST(Hostfile, WithoutAHostIsRefused) {
  EXPECT_THROW((void)parse_hostfile("# nothing\n\n", "f"), usage_error);
}

TEST(Numbers, AreShownAsRanges) {
  EXPECT_EQ(ranges_of({8, 0, 2, 1}), "0-2,8");
  EXPECT_EQ(ranges_of({}), "");
}

TEST(Placement, FillsHostAfterHost) {
  const auto placed = place_ranks(parse_hosts("a:2,b:3,c:1"), 4);
  ASSERT_EQ(placed.size(), 2u);
  EXPECT_EQ(placed[0].name, "a");
  EXPECT_EQ(placed[0].ranks, (std::vector{0, 1}));
  EXPECT_EQ(placed[1].name, "b");
  EXPECT_EQ(placed[1].ranks, (std::vector{2, 3}));
}

TEST(Placement, TakesAllSlotsUnlessToldOtherwise) {
  const auto placed = place_ranks(parse_hosts("a:2,b"), {});
  ASSERT_EQ(placed.size(), 2u);
  EXPECT_EQ(placed[1].ranks, std::vector{2});
}

TEST(Placement, DealtRanksHaveTheirNeighboursOnOtherHosts) {
  const auto pair = place_ranks(parse_hosts("a:2,b:2,c"), 2, placing::dealing);
  ASSERT_EQ(pair.size(), 2u);
  EXPECT_EQ(pair[0].ranks, std::vector{0});
  EXPECT_EQ(pair[1].ranks, std::vector{1});
  const auto uneven = place_ranks(parse_hosts("a:3,b:1,c:2"), {}, placing::dealing);
  ASSERT_EQ(uneven.size(), 3u);
  EXPECT_EQ(uneven[0].ranks, (std::vector{0, 3, 5}));
  EXPECT_EQ(uneven[1].ranks, std::vector{1});
  EXPECT_EQ(uneven[2].ranks, (std::vector{2, 4}));
}

TEST(Placement, RefusesMoreRanksThanFit) {
  EXPECT_THAT([] { (void)place_ranks(parse_hosts("a:2,b"), 4); },
              ThrowsMessage<usage_error>(HasSubstr("4 ranks do not fit on hosts that take 3")));
  EXPECT_THROW((void)place_ranks(parse_hosts("a:500000,b:500001"), {}), usage_error);
}

TEST(Placement, FillsTheHostsOfALargeMachine) {
  const auto placed = place_ranks(parse_hosts("n[0001-3312]:48"), {});
  ASSERT_EQ(placed.size(), 3312u);
  EXPECT_EQ(placed.back().name, "n3312");
  EXPECT_EQ(placed.back().ranks.back(), 158'975);
}

/// "a[b c] d": a branch of a with b and c below it, and one of d.
std::string branches(const std::string& hosts, int fanout, const std::string& near = "") {
  std::string text;
  const auto is_near = [&](const std::string& name) { return name == near; };
  for (const branch& one : branches_of(place_ranks(parse_hosts(hosts), {}), fanout, is_near)) {
    text += (text.empty() ? "" : " ") + one.host.name;
    std::string below;
    for (const host_ranks& host : one.below) below += (below.empty() ? "" : " ") + host.name;
    if (!below.empty()) text += "[" + below + "]";
  }
  return text;
}

TEST(Branches, AreTheHostsThemselvesUpToTheFanout) {
  EXPECT_EQ(branches("a,b,c", 3), "a b c");
  EXPECT_EQ(branches("a", 32), "a");
}

TEST(Branches, BeyondTheFanoutAreOfAboutTheSameSize) {
  EXPECT_EQ(branches("a,b,c,d,e,f,g", 2), "a[b c] d[e f g]");
  EXPECT_EQ(branches("a,b,c,d", 3), "a b c[d]");
  EXPECT_EQ(branches("a,b,c", 1), "a[b c]");
}

TEST(Branches, AHostThatIsNearIsNobodyElses) {
  EXPECT_EQ(branches("a,b,here,c,d", 3, "here"), "here a[b] c[d]");
  EXPECT_EQ(branches("a,here,b", 1, "here"), "here a[b]");
  EXPECT_EQ(branches("here", 1, "here"), "here");
}

TEST(Branches, KeepTheRanksOfTheirHosts) {
  const auto placed = branches_of(place_ranks(parse_hosts("a:2,b:2,c"), {}), 1,
                                  [](const std::string&) { return false; });
  ASSERT_EQ(placed.size(), 1u);
  EXPECT_EQ(placed[0].host.ranks, (std::vector{0, 1}));
  EXPECT_EQ(placed[0].below[0].ranks, (std::vector{2, 3}));
  EXPECT_EQ(placed[0].below[1].ranks, std::vector{4});
}

TEST(Names, AreCutWhenThereAreMany) {
  EXPECT_EQ(some_of({"a", "b"}, 2), "a, b");
  EXPECT_EQ(some_of({"a", "b", "c", "d"}, 2), "a, b and 2 more");
}

}  // namespace
}  // namespace heddle::tools
