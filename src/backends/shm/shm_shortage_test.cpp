// SPDX-License-Identifier: BSD-3-Clause
// shm_shortage_test.cpp - what becomes of peers while this process lacks descriptors or memory.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "backends/shm/forked_rank.h"
#include "backends/shm/link.h"
#include "base/clock.h"
#include "support/resource_limits.h"
#include "support/scale.h"

namespace heddle::transport::shm {
namespace {

using strings = std::vector<std::string>;

// What opening a peer takes may lack for a while.
class ShmFirstContact : public testing::Test, protected believer {
 protected:
  void SetUp() override {
    if (heddle::test::sanitized) GTEST_SKIP() << "a sanitizer needs memory and descriptors itself";
  }
};

TEST_F(ShmFirstContact, WaitsForDescriptorsAndForMemory) {
  forked_rank second(
      here,
      [](test_rank& me, int) {
        if (!me.sleep() || me.got != strings{"x"}) _exit(6);
      },
      2);
  {
    const heddle::test::no_descriptors left;
    EXPECT_EQ(here.send(2, "x"), status::busy_queue);
    EXPECT_FALSE(here.lane->arm()) << "nothing would wake the sender";
  }
  {
    const heddle::test::no_mappings left;
    EXPECT_EQ(here.send(2, "x"), status::busy_queue);
  }
  EXPECT_EQ(here.send(2, "x"), status::done);
  second.join();
  EXPECT_EQ(here.poll(), 0u);
  second.kill_it();
  ASSERT_TRUE(here.sleep());
  EXPECT_EQ(here.lost, std::vector<rank>{2}) << "its end is watched for";
}

TEST_F(ShmFirstContact, ByAMessageWaitsForDescriptors) {
  forked_rank second(
      here, [](test_rank& me, int) { must_send(me, "first words"); }, 2);
  second.join();
  {
    const heddle::test::no_descriptors left;
    EXPECT_EQ(here.poll(), 0u);
    here.lane->maintain();
  }
  here.lane->maintain();
  here.poll();
  EXPECT_EQ(here.got, strings{"first words"});
  EXPECT_EQ(here.send(2, "answer"), status::done);
}

TEST_F(ShmFirstContact, ByAGetWaitsForDescriptors) {
  const forked_rank second(
      here, [](test_rank&, int) {}, 2);
  if ((here.dev->describe().native & only(op_kind::get)) == 0) GTEST_SKIP() << "gets are messages";
  const memory::region_ref nothing = memory::region_table::symmetric_ref(0);
  std::array<std::byte, 8> bytes{};
  {
    const heddle::test::no_descriptors left;
    EXPECT_EQ(here.copy(op_kind::get, 2, nothing, 0, bytes), status::busy_queue);
  }
  EXPECT_EQ(here.copy(op_kind::get, 2, nothing, 0, bytes), status::withdrawn);
}

TEST_F(ShmFirstContact, ByAnImportIsRefusedWhileDescriptorsLack) {
  forked_rank second(
      here,
      [](test_rank& me, int) {
        static std::array<std::byte, 64> plain;
        me.dev->expose(
            me.regions.add_at(memory::region_table::symmetric_ref(0), plain, rights::all, {}));
      },
      2);
  second.join();
  const memory::region_ref region = memory::region_table::symmetric_ref(0);
  detail::remote_target target;
  {
    const heddle::test::no_descriptors left;
    EXPECT_THROW((void)here.dev->import(2, region, target), shortage);
  }
  EXPECT_NO_THROW((void)here.dev->import(2, region, target));
}

// A ring for which descriptors or memory lack is tried again, and not for ever: a program would
// wait for messages that were sent and can never come.
class ShmShortage : public testing::Test {
 protected:
  void SetUp() override {
    if (heddle::test::sanitized) GTEST_SKIP() << "a sanitizer needs memory and descriptors itself";
    ASSERT_NE(link_to_sender(), nullptr);  // only the ring is to lack
    ASSERT_EQ(ranks[1]->send(0, "x"), status::done);
  }
  link* link_to_sender() { return static_cast<link*>(ranks[0]->lane->reach(1, 0)); }
  static settings impatient() {
    settings config = small_rings();
    config.peer_timeout_ms = 20;
    return config;
  }

  std::vector<std::unique_ptr<test_rank>> ranks = test_ranks(2, impatient());
};

TEST_F(ShmShortage, OfDescriptorsForARingEndsWithTheLossOfItsSender) {
  const std::uint64_t begin = now_ns();
  {
    const heddle::test::no_descriptors left;
    while (ranks[0]->lost.empty() && now_ns() - begin < 10'000'000'000) {
      ranks[0]->poll();
      ranks[0]->lane->maintain();
    }
  }
  EXPECT_EQ(ranks[0]->lost, std::vector<rank>{1});
  EXPECT_GE(now_ns() - begin, 20'000'000u);
  EXPECT_NE(link_to_sender()->why().find("ulimit -n"), std::string::npos);
  EXPECT_EQ(ranks[0]->send(1, "x"), status::peer_lost);
}

TEST_F(ShmShortage, OfDescriptorsForTheRingToAPeerEndsWithItsLoss) {
  const std::uint64_t begin = now_ns();
  status answer = status::busy_queue;
  {
    const heddle::test::no_descriptors left;
    while (answer == status::busy_queue && now_ns() - begin < 10'000'000'000)
      answer = ranks[0]->send(1, "x");
  }
  EXPECT_EQ(answer, status::peer_lost);
  EXPECT_GE(now_ns() - begin, 20'000'000u);
  EXPECT_NE(link_to_sender()->why().find("ulimit -n"), std::string::npos);
}

TEST_F(ShmShortage, OfDescriptorsForTheRingToAPeerIsForgottenWhenThereAreSomeAgain) {
  {
    const heddle::test::no_descriptors left;
    EXPECT_EQ(ranks[0]->send(1, "y"), status::busy_queue);
  }
  EXPECT_EQ(ranks[0]->send(1, "y"), status::done);
  ranks[1]->poll();
  EXPECT_EQ(ranks[1]->got, strings{"y"});
}

TEST_F(ShmShortage, OfDescriptorsForARingIsForgottenWhenThereAreSomeAgain) {
  {
    const heddle::test::no_descriptors left;
    EXPECT_EQ(ranks[0]->poll(), 0u);
  }
  ranks[0]->lane->maintain();
  ranks[0]->poll();
  EXPECT_EQ(ranks[0]->got, strings{"x"});
  EXPECT_TRUE(ranks[0]->lost.empty());
}

}  // namespace
}  // namespace heddle::transport::shm
