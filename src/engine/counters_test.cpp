// SPDX-License-Identifier: BSD-3-Clause
// counters_test.cpp - what lanes count, read as data, and the pages and texts made of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heddle/heddle.h>

#include <atomic>
#include <map>
#include <set>
#include <thread>

#include "support/made_text.h"
#include "support/ranks.h"

namespace heddle::test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Rank 0 sends `messages` of `bytes` to rank 1, which receives them; then `look` at rank 0's lane.
template <class Look>
void after_messages(int messages, std::size_t bytes, Look&& look) {
  run_ranks(2, settings_for("shm"), [&](world& w) {
    lane l(w);
    std::vector<std::byte> data(bytes);
    for (int i = 0; i < messages; ++i) {
      if (w.rank() == 0)
        ASSERT_EQ(l.send(1, 1, data), status::done);
      else
        ASSERT_EQ(l.recv(0, 1, data).code, status::done);
    }
    w.barrier();
    look(w, l);
    w.barrier();
  });
}

std::vector<peer_counters> peers_of(lane& l) {
  std::vector<peer_counters> all;
  while (l.read_counters(all) == status::busy_lane) l.poll();
  return all;
}

TEST(Counters, OfALaneTellWhatItHasSent) {
  after_messages(5, 100, [](world& w, lane& l) {
    lane_counters counted;
    l.read_counters(counted);
    EXPECT_EQ(counted.rank, w.rank());
    EXPECT_EQ(counted.lane, l.number());
    EXPECT_EQ(counted.eager, w.rank() == 0 ? 5u : 0u);
    EXPECT_EQ(counted.rendezvous, 0u);
  });
}

TEST(Counters, OfAPeerTellMessagesAndBytesOnBothSides) {
  after_messages(5, 100, [](world& w, lane& l) {
    const auto all = peers_of(l);
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].rank, w.rank());
    EXPECT_EQ(all[0].peer, 1 - w.rank());
    EXPECT_EQ(all[0].peer_lane, l.number());
    if (w.rank() == 0) {
      EXPECT_EQ(all[0].sent_messages, 5u);
      EXPECT_EQ(all[0].sent_bytes, 500u);
    } else {
      EXPECT_GE(all[0].received_messages, 5u);
      EXPECT_GE(all[0].received_bytes, 500u);
    }
  });
}

TEST(Counters, TellALargeMessageAsARendezvous) {
  after_messages(2, 3'000'000, [](world& w, lane& l) {
    lane_counters counted;
    l.read_counters(counted);
    EXPECT_EQ(counted.rendezvous, w.rank() == 0 ? 2u : 0u);
  });
}

TEST(Counters, AreReadWhileOtherThreadsUseTheLane) {
  after_messages(1, 8, [](world& w, lane& l) {
    std::atomic<bool> done{false};
    std::thread user([&] {
      std::byte b{};
      for (int i = 0; i < 20'000; ++i)
        if (const std::span<std::byte> one(&b, 1); w.rank() == 0)
          (void)l.send(1, 2, one);
        else
          (void)l.recv(0, 2, one);
      done = true;
    });
    std::uint64_t last = 0;
    do {
      lane_counters counted;
      l.read_counters(counted);
      EXPECT_GE(counted.events, last);
      last = counted.events;
      std::vector<peer_counters> peers;
      (void)l.read_counters(peers);
    } while (!done);
    user.join();
  });
}

TEST(Counters, AreWrittenAsFarAsTheReaderKnowsThem) {
  after_messages(1, 8, [](world&, lane& l) {
    lane_counters older;
    older.size = offsetof(lane_counters, rescues);
    older.rescues = 4711;
    l.read_counters(older);
    EXPECT_EQ(older.rescues, 4711u);
    EXPECT_EQ(older.size, offsetof(lane_counters, rescues));
  });
}

TEST(Counters, OfAnEndedWorldsPeersAreClosed) {
  std::vector<peer_counters> peers;
  std::unique_ptr<lane> kept;
  run_ranks(1, settings_for("shm"), [&](world& w) { kept = std::make_unique<lane>(w); });
  EXPECT_EQ(kept->read_counters(peers), status::closed);
}

TEST(CounterTables, HaveDifferentNamesAndAMeaningForEach) {
  for (const auto table : {lane_counter_table(), peer_counter_table()}) {
    std::set<std::string_view> names;
    for (const counter_row& row : table) {
      EXPECT_TRUE(names.insert(row.name).second) << row.name;
      EXPECT_FALSE(row.help.empty() || row.unit.empty()) << row.name;
    }
  }
}

TEST(CounterTables, FindTheMemberOfTheirName) {
  lane_counters l;
  l.in_flight = 1;
  l.rescues = 2;
  EXPECT_EQ(lane_counter_table().front().in(l), 1u);
  EXPECT_EQ(lane_counter_table().back().in(l), 2u);
  peer_counters p;
  p.sent_messages = 3;
  p.lost = 1;
  EXPECT_EQ(peer_counter_table().front().in(p), 3u);
  EXPECT_EQ(peer_counter_table().back().in(p), 1u);
}

std::string rows_of(const char* prefix, std::span<const counter_row> table) {
  std::string text = "| name | unit | kind | what |\n|---|---|---|---|\n";
  for (const counter_row& row : table) {
    const bool counts = row.kind == counter_kind::counter;
    text += std::string("| `") + prefix + std::string(row.name) + "` | " + std::string(row.unit) +
            " | " + (counts ? "counter" : "gauge") + " | " + std::string(row.help) + " |\n";
  }
  return text;
}

TEST(CounterTables, AreInTheGuide) {
  expect_made_text(GUIDE "/observe.md", "lane counters", rows_of("", lane_counter_table()));
  expect_made_text(GUIDE "/observe.md", "peer counters", rows_of("", peer_counter_table()));
}

TEST(PrometheusText, HasEachMetricsValuesTogetherBehindItsMeaning) {
  std::vector<lane_counters> lanes(2);
  lanes[0].rank = lanes[1].rank = 3;
  lanes[0].lane = 0;
  lanes[1].lane = 7;
  lanes[1].eager = 42;
  std::vector<peer_counters> peers(1);
  peers[0].rank = 3;
  peers[0].lane = 7;
  peers[0].peer = peers[0].peer_lane = 1;
  peers[0].credit = 100;
  const std::string text = prometheus_text(lanes, peers);
  EXPECT_THAT(text, HasSubstr("# TYPE heddle_lane_eager_total counter\n"
                              "heddle_lane_eager_total{rank=\"3\",lane=\"0\"} 0\n"
                              "heddle_lane_eager_total{rank=\"3\",lane=\"7\"} 42\n#"));
  EXPECT_THAT(text,
              HasSubstr("# TYPE heddle_peer_credit gauge\nheddle_peer_credit{rank=\"3\",lane=\"7\","
                        "peer=\"1\",peer_lane=\"1\"} 100\n"));
  EXPECT_THAT(text, Not(HasSubstr("\n\n")));
}

TEST(PrometheusText, OfAWorldHasItsLanes) {
  after_messages(4, 16, [](world& w, lane&) {
    if (w.rank() != 0) return;
    EXPECT_THAT(w.metrics(), HasSubstr("heddle_peer_sent_bytes_total{rank=\"0\",lane=\"0\","
                                       "peer=\"1\",peer_lane=\"0\"} 64\n"));
  });
}

TEST(Describe, NamesTheCountersAsTheTableDoes) {
  run_ranks(1, settings_for("shm"), [](world& w) {
    const lane l(w);
    for (const counter_row& row : lane_counter_table())
      EXPECT_THAT(w.describe(), HasSubstr(std::string(row.name) + " "));
  });
}

}  // namespace
}  // namespace heddle::test
