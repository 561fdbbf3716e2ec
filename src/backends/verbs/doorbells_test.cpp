// SPDX-License-Identifier: BSD-3-Clause
// doorbells_test.cpp - how often the card is told that there is something to do, and of how much,
// that nothing waits for a doorbell which nobody rings, and that nothing is asked which was told.
#include <gtest/gtest.h>
#include <poll.h>
#include <softhca.h>

#include <algorithm>
#include <functional>
#include <vector>

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

/// Each is told by its first byte, and some are longer than what a card takes with a request.
TEST(VerbsMessages, TravelTogetherWhereManyAreUnderWay) {
  for (const char* mode : {"inline", "engine", "chaos"})
    in_own_process({{"SOFTHCA_MODE", mode}}, [] {
      verbs_ranks ranks(2);
      meter card;
      std::vector<std::byte> bytes(500);
      std::vector<op> ops;
      for (std::size_t n = 0; n < 250; ++n) {
        bytes[n] = std::byte(n);
        ops.push_back(send_op(0, std::span(bytes).subspan(n, n % 10 == 0 ? 250 : 1)));
      }
      const softhca_counters before = card.read();
      post_one_by_one(ranks.job[1].lane(), ops);
      ASSERT_TRUE(ranks.job.until([&] { return ranks.inbox().size() == ops.size(); }));
      EXPECT_LE(card.read().work_requests - before.work_requests, 90u);
      for (std::size_t n = 0; n < ops.size(); ++n)
        EXPECT_TRUE(std::ranges::equal(ranks.inbox()[n].bytes, ops[n].memory)) << n;
    });
}

/// A port looks at a message's bytes once more before the next poll.
TEST(VerbsMessages, OfOneBufferStayUntilThePollBehindTheOneThatTellsOfThem) {
  in_own_process({{"SOFTHCA_MODE", "inline"}}, [] {
    verbs_ranks ranks(2);
    port& to = ranks.job[0].lane();
    std::vector<op> ops(400, send_op(0, ranks.data(64)));
    post_one_by_one(ranks.job[1].lane(), ops);
    for (std::size_t n = 1; n <= ops.size(); ++n) {
      EXPECT_FALSE(to.inner().arm()) << "there is more";
      EXPECT_LE(to.poll(1), 1u);
      ASSERT_EQ(to.inbox.size(), n);
      (void)ranks.job[1].lane().poll();
    }
  });
}

TEST(VerbsMessages, KeepNobodyFromArmingLooselyBehindThePollThatBroughtThem) {
  in_own_process({{"SOFTHCA_MODE", "inline"}}, [] {
    verbs_ranks ranks(2);
    port& from = ranks.job[1].lane();
    port& to = ranks.job[0].lane();
    std::vector<op> ops(2, send_op(0, ranks.data(64)));
    post_one_by_one(from, std::span(ops).first(1));
    while (to.inbox.empty()) (void)to.poll();
    EXPECT_FALSE(to.inner().arm()) << "their bytes are to stay";
    EXPECT_TRUE(to.inner().arm_loosely());
    post_one_by_one(from, std::span(ops).last(1));
    pollfd news{to.inner().fd(), POLLIN, 0};
    EXPECT_EQ(::poll(&news, 1, 10'000), 1);
  });
}

/// Requests that it takes to read a region from where it is told to be.
std::uint64_t requests_to_read(const std::function<void(transport::region_place&)>& change) {
  verbs_ranks ranks(2);
  meter card;
  std::vector<std::byte> memory = pattern(64 << 10, 3), into(memory.size());
  const memory::region_ref there = ranks.job[0].expose(memory, rights::read);
  std::vector<op> read{get_op(0, there, 0, into)};
  read[0].place = ranks.job[0].device().place_of(there);
  change(read[0].place);
  const softhca_counters before = card.read();
  EXPECT_TRUE(ranks.job.run(ranks.job[1].lane(), read));
  EXPECT_EQ(into, memory);
  return card.read().work_requests - before.work_requests;
}

TEST(VerbsPlaces, AreReadFromWithoutAskingFirst) {
  in_own_process({{"SOFTHCA_MODE", "inline"}},
                 [] { EXPECT_EQ(requests_to_read([](auto&) {}), 1u); });
}

TEST(VerbsPlaces, ThatAnotherCardHasToldAreAskedFor) {
  in_own_process({{"SOFTHCA_MODE", "inline"}}, [] {
    const auto of_another = [](transport::region_place& p) {
      p.by ^= 2;
      p.key ^= 1;
    };
    EXPECT_EQ(requests_to_read(of_another), 2u);
  });
}

TEST(VerbsPlaces, AreNotToldOfWhatIsNotThere) {
  in_own_process({{"SOFTHCA_MODE", "inline"}}, [] {
    verbs_ranks ranks(1);
    std::vector<std::byte> memory(64);
    const memory::region_ref there = ranks.job[0].expose(memory, rights::read);
    EXPECT_NE(ranks.job[0].device().place_of(there).by, 0u);
    ranks.job[0].withdraw(there);
    EXPECT_EQ(ranks.job[0].device().place_of(there).by, 0u);
  });
}

}  // namespace
}  // namespace heddle::test
