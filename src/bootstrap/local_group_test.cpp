// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heddle/status.h>

#include <thread>

#include "bootstrap/bootstrap.h"
#include "support/blobs.h"

namespace heddle::bootstrap {
namespace {

using testing::HasSubstr;

blob number(int value) {
  return {static_cast<std::byte>(value)};
}

/// Runs `work` for each session on its own thread and joins them.
template <class Work>
void on_threads(std::vector<std::unique_ptr<session>>& group, Work work) {
  std::vector<std::thread> threads;
  for (auto& member : group) threads.emplace_back([&work, &member] { work(member); });
  for (auto& t : threads) t.join();
}

TEST(LocalGroup, RanksShareASecretAndKnowTheirNumbers) {
  auto group = local_group(3);
  for (int r = 0; r < 3; ++r) {
    const job& j = group[static_cast<std::size_t>(r)]->info();
    EXPECT_EQ(j.rank, r);
    EXPECT_EQ(j.size, 3);
    EXPECT_EQ(j.secret, group[0]->info().secret);
  }
  EXPECT_NE(local_group(1)[0]->info().secret, group[0]->info().secret);
}

TEST(LocalGroup, ExchangeGivesEveryoneEverything) {
  auto group = local_group(4);
  on_threads(group, [](std::unique_ptr<session>& me) {
    for (int round = 0; round < 50; ++round) {
      const auto all = test::blobs_of(me->exchange(number(me->info().rank * 10 + round % 10)));
      ASSERT_EQ(all.size(), 4u);
      for (int r = 0; r < 4; ++r)
        EXPECT_EQ(all[static_cast<std::size_t>(r)], number(r * 10 + round % 10));
    }
  });
}

TEST(LocalGroup, BarrierHoldsUntilTheLastArrives) {
  auto group = local_group(3);
  std::vector<int> arrived(3, 0);
  on_threads(group, [&](std::unique_ptr<session>& me) {
    arrived[static_cast<std::size_t>(me->info().rank)] = 1;
    me->barrier();
    EXPECT_THAT(arrived, testing::Each(1));
  });
}

TEST(LocalGroup, ARankThatLeavesFailsTheWaitingOnesByName) {
  auto group = local_group(3);
  on_threads(group, [](std::unique_ptr<session>& me) {
    if (me->info().rank == 1) {
      me.reset();
      return;
    }
    try {
      me->barrier();
      FAIL() << "passed without rank 1";
    } catch (const error& e) {
      EXPECT_THAT(e.what(), HasSubstr("rank 1"));
    }
  });
}

TEST(LocalGroup, DifferentCollectivesAtOnceAreRefused) {
  auto group = local_group(2);
  on_threads(group, [](std::unique_ptr<session>& me) {
    if (me->info().rank == 0)
      EXPECT_THROW(me->barrier(), error);
    else
      EXPECT_THROW((void)me->exchange({}), error);
  });
}

TEST(LocalGroup, AGroupOfNoneIsRefused) {
  EXPECT_THROW((void)local_group(0), error);
}

}  // namespace
}  // namespace heddle::bootstrap
