// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/host_circle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heddle/status.h>
#include <sys/mman.h>
#include <unistd.h>

#include <map>
#include <thread>

#include "bootstrap/circle_link.h"
#include "bootstrap/table_writer.h"
#include "support/blobs.h"
#include "support/refusal.h"

namespace heddle::bootstrap {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr std::uint64_t late_ms = 60'000;

/// Ranks that have entered; each settles who belongs to it in a thread of its own.
class HostCircle : public testing::Test {
 protected:
  host_circle& enter(int rank, const std::string& name = "job") {
    const std::string own = name + std::to_string(getpid());
    auto made = std::make_unique<host_circle>(own, job{.rank = rank, .size = 4}, late_ms);
    return *(circles_[rank] = std::move(made));
  }
  void close(const std::map<int, secret_bytes>& others = {}) {
    std::vector<std::thread> threads;
    for (auto& [rank, circle] : circles_) {
      const auto other = others.find(rank);
      const secret_bytes secret = other == others.end() ? secret_bytes{} : other->second;
      threads.emplace_back([&circle = *circle, secret] { circle.close(secret); });
    }
    for (auto& t : threads) t.join();
  }

  std::map<int, std::unique_ptr<host_circle>> circles_;
};

blob gift(int what) {
  return {static_cast<std::byte>(what)};
}

unique_fd table_of(const std::vector<blob>& all) {
  table_writer made(all.size());
  for (std::size_t rank = 0; rank < all.size(); ++rank) made.add(rank, all[rank]);
  return made.finish();
}

TEST_F(HostCircle, TheFirstToComeLeadsAndSpeaksForAll) {
  host_circle& leader = enter(2);
  host_circle &a = enter(3), &b = enter(0);
  close();
  EXPECT_TRUE(leader.leads());
  EXPECT_FALSE(a.leads());
  EXPECT_EQ(a.leader(), 2);
  EXPECT_EQ(b.leader(), 2);
  a.give(gift(3));
  b.give(gift(0));
  EXPECT_THAT(leader.collect(gift(2)),
              UnorderedElementsAre(Pair(0, gift(0)), Pair(2, gift(2)), Pair(3, gift(3))));
  const std::vector<blob> all{gift(0), gift(1), gift(2), gift(3)};
  leader.hand_out(table_of(all).get());
  EXPECT_EQ(test::blobs_of(a.take()), all);
  EXPECT_EQ(test::blobs_of(b.take()), all);
}

TEST_F(HostCircle, RanksMapOneAndTheSameTable) {
  host_circle& leader = enter(0);
  host_circle &a = enter(1), &b = enter(2);
  close();
  const unique_fd table = table_of(std::vector<blob>(4, gift(9)));
  for (int exchange = 0; exchange < 2; ++exchange) {
    leader.hand_out(table.get());
    const gathered one = a.take(), other = b.take();
    EXPECT_EQ(gathered::map(table.get(), 4)->encoded().size(), one.encoded().size());
    EXPECT_EQ(one[3].front(), std::byte{9});
    EXPECT_EQ(other[0].front(), std::byte{9});
  }
}

TEST_F(HostCircle, ATableOfOtherRanksOrOneThatMayChangeIsRefused) {
  host_circle& leader = enter(0);
  host_circle& a = enter(1);
  close();
  leader.hand_out(table_of(std::vector<blob>(3, gift(9))).get());
  EXPECT_THAT(test::refusal([&] { (void)a.take(); }), HasSubstr("malformed"));
  const unique_fd loose(memfd_create("loose", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  const blob good = protocol::encode_blobs(std::vector<blob>(4));
  ASSERT_EQ(write(loose.get(), good.data(), good.size()), static_cast<ssize_t>(good.size()));
  leader.hand_out(loose.get());
  EXPECT_THAT(test::refusal([&] { (void)a.take(); }), HasSubstr("malformed"));
}

TEST_F(HostCircle, JobsOfOtherNamesHaveTheirOwn) {
  host_circle &a = enter(0, "one"), &b = enter(1, "other");
  close();
  EXPECT_TRUE(a.leads());
  EXPECT_TRUE(b.leads());
}

TEST_F(HostCircle, WhoDoesNotKnowTheSecretIsACircleOfItsOwn) {
  host_circle& leader = enter(0);
  host_circle &stranger = enter(1), &member = enter(2);
  secret_bytes other{};
  other[0] = std::byte{1};
  close({{1, other}});
  EXPECT_TRUE(stranger.leads());
  EXPECT_FALSE(member.leads());
  member.give(gift(2));
  EXPECT_THAT(leader.collect(gift(0)), ElementsAre(Pair(0, gift(0)), Pair(2, gift(2))));
}

TEST_F(HostCircle, ANameCanBeUsedAgainAfterwards) {
  enter(0);
  enter(1);
  close();
  circles_.clear();
  host_circle& again = enter(1);
  close();
  EXPECT_TRUE(again.leads());
}

TEST_F(HostCircle, AMemberThatIsGoneIsNamed) {
  host_circle& leader = enter(0);
  enter(1);
  close();
  circles_.erase(1);
  EXPECT_THAT(test::refusal([&] { (void)leader.collect({}); }), HasSubstr("rank 1 on this host"));
}

TEST_F(HostCircle, AMemberIsToldWhyTheLeaderGivesUpOrThatItIsGone) {
  host_circle& leader = enter(0);
  host_circle &a = enter(1), &b = enter(2);
  close();
  leader.give_up("no way");
  EXPECT_THAT(test::refusal([&] { (void)a.take(); }), HasSubstr("no way"));
  EXPECT_THAT(test::refusal([&] { (void)b.take(); }), HasSubstr("no way"));
  circles_.erase(0);
  EXPECT_THAT(test::refusal([&] { (void)a.take(); }), HasSubstr("rank 0, which speaks for"));
}

}  // namespace
}  // namespace heddle::bootstrap
