// SPDX-License-Identifier: BSD-3-Clause
// matched_test.cpp - messages that are taken out of matching before they are received, over each
// way.
#include <gtest/gtest.h>
#include <heddle/heddle.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "support/engine_ways.h"

namespace heddle::test {
namespace {

class Matched : public Engine {};
INSTANTIATE_TEST_SUITE_P(Ways, Matched, all_ways(), name_of_way);

constexpr std::size_t sizes[] = {0, 1, 64, 65, 5000, 70'000, 3'000'000};

matched_message probed(lane& l, rank from, tag_match t) {
  matched_message m;
  while (l.try_probe(from, t, m) != status::done) l.poll();
  return m;
}

TEST_P(Matched, AMessageOfUnknownSizeIsReceivedIntoABufferMadeForIt) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    for (const bool waits_first : {true, false}) {
      for (const std::size_t bytes : sizes) {
        if (w.rank() == 0) {
          if (waits_first) {
            EXPECT_EQ(l.recv(1, 9, {}).code, status::done);
          }
          EXPECT_EQ(l.send(1, 7, pattern(bytes)), status::done);
          continue;
        }
        matched_message m;
        flag come;
        if (waits_first) {
          ASSERT_EQ(l.try_match(0, 7, m, come), status::posted);
          EXPECT_EQ(l.send(0, 9, {}), status::done);
          ASSERT_EQ(l.wait(come), status::done);
        } else {
          ASSERT_EQ(l.match(any_source, any_tag, m).code, status::done);
        }
        ASSERT_TRUE(m.holds());
        EXPECT_EQ(m.what().peer, 0);
        EXPECT_EQ(m.what().tag, 7u);
        EXPECT_EQ(m.what().lane, l.number());
        ASSERT_EQ(m.what().bytes, bytes);
        std::vector<std::byte> data(bytes);
        const outcome o = l.recv(m, data);
        EXPECT_EQ(o.code, status::done);
        EXPECT_EQ(o.bytes, bytes);
        EXPECT_EQ(data, pattern(bytes));
        EXPECT_FALSE(m.holds());
      }
    }
  });
}

TEST_P(Matched, WhatIsTakenIsFoundByNobodyElse) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    if (w.rank() == 0) {
      for (std::size_t i = 1; i <= 3; ++i) EXPECT_EQ(l.send(1, 7, pattern(i)), status::done);
      EXPECT_EQ(l.recv(1, 8, {}).code, status::done);
      return;
    }
    matched_message first = probed(l, 0, 7);
    outcome seen;
    while (l.try_probe(0, 7, seen) != status::done) l.poll();
    EXPECT_EQ(first.what().bytes, 1u);
    EXPECT_EQ(seen.bytes, 2u);
    std::vector<std::byte> data(3);
    EXPECT_EQ(l.recv(0, 7, data).bytes, 2u);
    matched_message third = probed(l, any_source, any_tag);
    status s = status::busy_lane;
    while (s == status::busy_lane) s = l.try_probe(any_source, any_tag, seen);
    EXPECT_EQ(s, status::not_found);
    EXPECT_EQ(l.recv(third, data).bytes, 3u);
    EXPECT_EQ(l.recv(first, data).bytes, 1u);  // in any order
    EXPECT_EQ(l.send(0, 8, {}), status::done);
  });
}

TEST_P(Matched, ReceivesAndTakersGetMessagesInTheOrderInWhichTheyWerePosted) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    if (w.rank() == 0) {
      EXPECT_EQ(l.recv(1, 8, {}).code, status::done);
      for (std::size_t i = 1; i <= 4; ++i) EXPECT_EQ(l.send(1, 7, pattern(i)), status::done);
      return;
    }
    std::vector<std::byte> a(4), c(4), taken(4);
    matched_message b, d;
    flag ends[4];
    ASSERT_EQ(l.try_recv(0, 7, a, ends[0]), status::posted);
    ASSERT_EQ(l.try_match(0, 7, b, ends[1]), status::posted);
    ASSERT_EQ(l.try_recv(any_source, 7, c, ends[2]), status::posted);
    ASSERT_EQ(l.try_match(any_source, any_tag, d, ends[3]), status::posted);
    EXPECT_EQ(l.send(0, 8, {}), status::done);
    for (std::size_t i = 0; i < 4; ++i) {
      ASSERT_EQ(l.wait(ends[i]), status::done);
      EXPECT_EQ(ends[i].result().bytes, i + 1);
    }
    EXPECT_EQ(l.recv(d, taken).bytes, 4u);
    EXPECT_EQ(l.recv(b, taken).bytes, 2u);
  });
}

TEST_P(Matched, ADroppedMessageEndsItsSend) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    if (w.rank() == 0) {
      EXPECT_EQ(l.send(1, 7, pattern(3'000'000)), status::done);
      EXPECT_EQ(l.send(1, 7, pattern(100)), status::done);
      EXPECT_EQ(l.recv(1, 8, {}).code, status::done);
      return;
    }
    { matched_message m = probed(l, 0, 7); }
    matched_message m = probed(l, 0, 7);
    EXPECT_EQ(m.what().bytes, 100u);
    m = matched_message();
    EXPECT_FALSE(m.holds());
    EXPECT_EQ(l.send(0, 8, {}), status::done);
  });
}

TEST_P(Matched, WhatIsCutIsTruncatedAndWhatCannotBeIsInvalid) {
  run_ranks(2, config(), [](world& w) {
    lane l(w), other(w);
    if (w.rank() == 0) {
      for (const std::size_t bytes : sizes) EXPECT_EQ(l.send(1, 7, pattern(bytes)), status::done);
      w.barrier();
      return;
    }
    std::vector<std::byte> one(1);
    matched_message m;
    EXPECT_EQ(l.try_recv(m, one), status::invalid);
    EXPECT_EQ(l.try_match(0, reserved_tag_bit, m), status::invalid);
    EXPECT_EQ(l.match(2, 7, m).code, status::invalid);
    for (const std::size_t bytes : sizes) {
      ASSERT_EQ(l.match(0, 7, m).code, status::done);
      EXPECT_EQ(l.try_match(0, 7, m), status::invalid);  // it holds one
      EXPECT_EQ(other.try_recv(m, one), status::invalid);
      EXPECT_EQ(l.recv(m, one).code, bytes > 1 ? status::truncated : status::done);
    }
    flag never;
    ASSERT_EQ(l.try_match(0, 7, m, never), status::posted);
    status s = status::busy_lane;
    while (s == status::busy_lane) s = l.try_cancel(never);
    EXPECT_EQ(s, status::done);
    EXPECT_EQ(l.wait(never), status::canceled);
    EXPECT_FALSE(m.holds());
    w.barrier();
  });
}

TEST_P(Matched, ThreadsThatShareALaneDoNotTakeEachOthersMessages) {
  constexpr int threads = 3, messages = 150;
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    const auto size_of = [](int i) { return static_cast<std::size_t>(i * 977 % 20'000); };
    if (w.rank() == 0) {
      for (int i = 0; i < messages; ++i)
        ASSERT_EQ(l.send(1, static_cast<tag>(i), pattern(size_of(i))), status::done);
      return;
    }
    std::atomic<int> left = messages;
    std::vector<std::thread> takers;
    for (int t = 0; t < threads; ++t) {
      takers.emplace_back([&, waits = t == 0] {
        while (left.fetch_sub(1) > 0) {
          matched_message m;
          if (waits) {
            ASSERT_EQ(l.match(any_source, any_tag, m).code, status::done);
          } else {
            m = probed(l, any_source, any_tag);
          }
          std::vector<std::byte> data(m.what().bytes);
          ASSERT_EQ(data.size(), size_of(static_cast<int>(m.what().tag)));
          ASSERT_EQ(l.recv(m, data).code, status::done);
          ASSERT_EQ(data, pattern(data.size()));
        }
      });
    }
    for (auto& each : takers) each.join();
  });
}

task<status> receive_any(async_lane on, std::vector<std::byte>& data) {
  matched_message m;
  const outcome come = co_await on.match(any_source, any_tag, m);
  if (come.code != status::done) co_return come.code;
  data.resize(come.bytes);
  co_return (co_await on.recv(m, data)).code;
}

TEST_P(Matched, CanBeAwaited) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    for (const std::size_t bytes : sizes) {
      if (w.rank() == 0) {
        EXPECT_EQ(l.send(1, 7, pattern(bytes)), status::done);
        continue;
      }
      std::vector<std::byte> data;
      flag ended;
      spawn(receive_any(async_lane(l), data), ended);
      EXPECT_EQ(l.wait(ended), status::done);
      EXPECT_EQ(data, pattern(bytes));
    }
  });
}

/// Rank 0 leaves while rank 1 holds a message of its.
TEST(MatchedOfALostPeer, IsThereWhereItHasComeWholeAndElseIsLost) {
  for (const char* backend : {"shm", "tcp"}) {
    auto config = settings_for(backend);
    config.linger_ms = 1;
    std::vector<std::thread> threads;
    for (auto& session : bootstrap::local_group(2)) {
      threads.emplace_back([&config, mine = std::move(session)]() mutable {
        const auto large = pattern(3'000'000);
        std::vector<std::byte> data(large.size());
        flag sent;  // held until its world has ended
        world w(engine::make_world(std::move(mine), config));
        lane l(w);
        if (w.rank() == 0) {
          EXPECT_EQ(l.send(1, 7, pattern(100)), status::done);
          ASSERT_EQ(l.try_send(1, 8, large, sent), status::posted);
          EXPECT_EQ(l.recv(1, 9, {}).code, status::done);
          return;
        }
        matched_message small = probed(l, 0, 7), lost = probed(l, 0, 8);
        EXPECT_EQ(l.send(0, 9, {}), status::done);
        matched_message nothing;
        EXPECT_EQ(l.match(0, 10, nothing).code, status::peer_lost);
        EXPECT_EQ(l.recv(small, data).code, status::done);
        EXPECT_EQ(l.recv(lost, data).code, status::peer_lost);
      });
    }
    for (auto& each : threads) each.join();
  }
}

}  // namespace
}  // namespace heddle::test
