// SPDX-License-Identifier: BSD-3-Clause
#include "tracing/recorder.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

namespace heddle::trace {
namespace {

std::vector<event> events_of(const recording& r, std::int32_t self, std::uint64_t* lost = nullptr) {
  std::vector<event> all;
  const std::uint64_t gone = r.each(self, [&](const event& e) { all.push_back(e); });
  if (lost != nullptr) *lost = gone;
  return all;
}

TEST(EventRing, KeepsTheNewestAndTellsHowManyAreGone) {
  sync::event_ring ring(4);
  for (std::uint64_t i = 0; i < 10; ++i) ring.add({i});
  std::vector<std::uint64_t> left;
  // The oldest of what fits is taken for one that is being overwritten.
  EXPECT_EQ(ring.each(0, [&](const auto& r) { left.push_back(r[0]); }), 7u);
  EXPECT_EQ(left, (std::vector<std::uint64_t>{7, 8, 9}));
  EXPECT_EQ(ring.added(), 10u);
}

TEST(EventRing, IsReadWholeWhileItIsWritten) {
  sync::event_ring ring(64);
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (std::uint64_t i = 1; !stop; ++i) ring.add({i, i, i, i, i, i, i});
  });
  for (int i = 0; i < 300; ++i) {
    std::uint64_t last = 0;
    ring.each(0, [&](const auto& r) {
      for (const std::uint64_t word : r) EXPECT_EQ(word, r[0]);
      EXPECT_GT(r[0], last);
      last = r[0];
    });
  }
  stop = true;
  writer.join();
}

TEST(Event, IsTheSameAfterItWasPacked) {
  event e;
  e.kind = event_kind::no_room;
  e.operation = operation_kind::when_ready;
  e.code = status::closed;
  e.by = role::helper;
  e.self = 1 << 24;
  e.peer = -1;
  e.lane = 255;
  e.began_on = 4'000'000'000;
  e.ended_on = 7;
  e.begin = UINT64_MAX;
  e.end = 5;
  e.amount = std::uint64_t{1} << 40;
  e.tag = reserved_tag_bit | 3;
  const event back = event::unpacked(e.packed());
  EXPECT_EQ(back.packed(), e.packed());
  EXPECT_EQ(back.code, status::closed);
  EXPECT_EQ(back.self, 1 << 24);
  EXPECT_EQ(back.peer, -1);
  EXPECT_EQ(back.began_on, 4'000'000'000);
}

TEST(Recording, HasWhatThreadsNoteWhileItLives) {
  note_at(event_kind::wake, {3, 1}, 1);  // nobody records
  const recording all(1, 64);
  std::thread([] { note_at(event_kind::wake, {3, 1}, 2); }).join();
  note_at(event_kind::wake, {4, 1}, 3);  // another rank's
  const auto found = events_of(all, 3);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].amount, 2u);
  EXPECT_EQ(found[0].lane, 1);
  EXPECT_EQ(found[0].begin, found[0].end);
}

TEST(Recording, ThatBeginsLaterHasNothingOfTheOneBefore) {
  {
    const recording first(1, 64);
    note_at(event_kind::wake, {3, 0}, 1);
  }
  const recording second(1, 64);
  EXPECT_TRUE(events_of(second, 3).empty());
}

TEST(Recording, WatchesTheProcessOnlyWhileItLives) {
  EXPECT_FALSE(is_watched());
  {
    const recording all(1, 64);
    const recording another(1, 64);
    EXPECT_TRUE(is_watched());
  }
  EXPECT_FALSE(is_watched());
  EXPECT_FALSE(is_recorded());
}

TEST(Recording, SaysHowManyEventsOfABusyThreadAreLost) {
  const recording all(1, 64);
  // On a thread whose ring is made for this recording, or has been of another size before.
  std::thread([] {
    for (int i = 0; i < 1 << 18; ++i) note_at(event_kind::wake, {3, 0}, 1);
  }).join();
  std::uint64_t lost = 0;
  const auto found = events_of(all, 3, &lost);
  EXPECT_GT(lost, 0u);
  EXPECT_EQ(found.size() + lost, 1u << 18);
}

TEST(Recording, TellsOwnThreadsFromTheProgramsByTheirRole) {
  const recording all(1, 64);
  std::thread([] {
    this_thread_is(role::executor);
    note_at(event_kind::wake, {3, 0}, 1);
  }).join();
  EXPECT_EQ(events_of(all, 3).at(0).by, role::executor);
}

TEST(Span, LastsFromItsBeginToItsEnd) {
  const recording all(1, 64);
  {
    span s(event_kind::sleep, {3, 2}, false);
    s.set_amount(9);
  }
  const auto found = events_of(all, 3);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, event_kind::sleep);
  EXPECT_EQ(found[0].amount, 9u);
  EXPECT_GT(found[0].end, found[0].begin);
}

TEST(Span, OfATurnIsRecordedOnceInSoManyWhereItIsSampled) {
  const recording all(4, 64);
  std::thread([] {
    for (int i = 0; i < 16; ++i) const span s(event_kind::turn, {3, 0}, true);
  }).join();
  EXPECT_EQ(events_of(all, 3).size(), 4u);
}

TEST(Span, OfATurnIsCountedAnewWhereALaterRecordTakesMore) {
  std::thread([] {
    const auto turn = [] { const span s(event_kind::turn, {3, 0}, true); };
    for (const recording few(1000, 64); events_of(few, 3).empty();) turn();
    const recording all(1, 64);
    for (int i = 0; i < 4; ++i) turn();
    EXPECT_EQ(events_of(all, 3).size(), 4u);
  }).join();
}

TEST(Ticks, MeanTheTimeOfTheMonotonicClock) {
  const moment from = moment::now();
  const std::uint64_t between = ticks();
  while (now_ns() < from.ns + 2'000'000) {
  }
  const moment to = moment::now();
  const tick_scale scale(from, to);
  EXPECT_GE(scale.ns(between), static_cast<double>(from.ns));
  EXPECT_LE(scale.ns(between), static_cast<double>(to.ns));
  EXPECT_NEAR(scale.ns(to.ticks), static_cast<double>(to.ns), 1000);
}

}  // namespace
}  // namespace heddle::trace
