// SPDX-License-Identifier: BSD-3-Clause
// doorbells_test.cpp - how often the card is told that there is something to do, and that nothing
// waits for a doorbell which nobody rings.
#include <gtest/gtest.h>
#include <poll.h>
#include <softhca.h>

#include "backends/verbs/handles.h"
#include "support/ranks_on_softhca.h"

namespace heddle::test {
namespace {

using transport::verbs::handle;

/// Counts of this process.
class meter {
 public:
  meter() {
    ibv_device** const all = ibv_get_device_list(nullptr);
    device_.reset(ibv_open_device(all[0]));
    ibv_free_device_list(all);
  }
  softhca_counters read() {
    softhca_counters now{};
    EXPECT_EQ(softhca_read_counters(device_.get(), &now), 0);
    return now;
  }

 private:
  handle<ibv_context> device_;
};

/// As a program does that calls try_put in a loop: one by one, with a poll where there is no room.
void post_one_by_one(port& from, std::span<op> ops) {
  for (op& o : ops)
    while (from.post({&o, 1}).reason != status::done) (void)from.poll();
}

TEST(VerbsDoorbells, AreAnEighthOfAnOperationWhereManyAreUnderWay) {
  in_own_process({{"SOFTHCA_MODE", "engine"}}, [] {
    verbs_ranks ranks(2);
    meter card;
    auto ops = ranks.puts(256);
    const softhca_counters before = card.read();
    post_one_by_one(ranks.job[1].lane(), ops);
    ASSERT_TRUE(ranks.job.until([&] { return ranks.job[1].lane().in_flight() == 0; }));
    const softhca_counters after = card.read();
    EXPECT_GE(after.work_requests - before.work_requests, 256u);
    EXPECT_LE(after.doorbells - before.doorbells, 32u);
  });
}

TEST(VerbsDoorbells, AreRungAtOnceForAFew) {
  in_own_process({{"SOFTHCA_MODE", "engine"}}, [] {
    verbs_ranks ranks(2);
    meter card;
    auto ops = ranks.puts(8);
    const softhca_counters before = card.read();
    post_one_by_one(ranks.job[1].lane(), ops);
    EXPECT_EQ(card.read().work_requests - before.work_requests, 8u);
    ASSERT_TRUE(ranks.job.until([&] { return ranks.job[1].lane().in_flight() == 0; }));
  });
}

/// The thread that posted never polls; another one sleeps until the lane has news.
TEST(VerbsDoorbells, OfWhatGathersAreRungByWhoeverTheLaneWakes) {
  for (const char* mode : {"inline", "engine", "chaos"})
    in_own_process({{"SOFTHCA_MODE", mode}}, [] {
      verbs_ranks ranks(2);
      port& from = ranks.job[1].lane();
      ranks.job.settle();
      ASSERT_TRUE(ranks.job.until([&] { return from.inner().arm(); }));
      auto ops = ranks.puts(20);  // some at once, the others gather
      post_one_by_one(from, ops);
      while (from.in_flight() != 0) {
        pollfd news{from.inner().fd(), POLLIN, 0};
        ASSERT_EQ(::poll(&news, 1, 10'000), 1) << from.in_flight() << " stayed";
        do from.poll();
        while (from.in_flight() != 0 && !from.inner().arm());
      }
      EXPECT_EQ(from.ended_with(status::done), from.ended());
    });
}

}  // namespace
}  // namespace heddle::test
