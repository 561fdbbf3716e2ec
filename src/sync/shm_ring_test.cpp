// SPDX-License-Identifier: BSD-3-Clause
// shm_ring_test.cpp - the ring by itself: order, wrap, full, stale bytes, lies, two threads.
#include "sync/shm_ring.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <thread>

#include "support/scale.h"

namespace heddle::sync {
namespace {

constexpr std::uint32_t lines = 64;

/// A ring in ordinary memory, with both its ends.
struct ring {
  explicit ring(std::uint64_t position = 0)
      : memory(static_cast<std::byte*>(std::aligned_alloc(64, lines * ring_line)), &std::free) {
    std::memset(memory.get(), 0, lines * ring_line);
    control.head.store(position, std::memory_order_relaxed);  // relaxed: no other thread yet
    place = {&control, memory.get(), lines, position};
    producer = std::make_unique<ring_producer>(place);
    consumer = std::make_unique<ring_consumer>(place);
  }
  bool push(std::string_view text) {
    return producer->try_push({}, {}, std::as_bytes(std::span(text.data(), text.size())));
  }
  /// The next message and its lines given back; "-" when there is none.
  std::string pop() {
    std::span<const std::byte> bytes;
    if (consumer->try_take(bytes) != ring_consumer::taken::message) return "-";
    std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    consumer->release();
    return text;
  }
  void overwrite(std::size_t line, std::uint64_t word) {
    std::memcpy(memory.get() + line * ring_line, &word, sizeof word);
  }

  ring_control control{};
  std::unique_ptr<std::byte, decltype(&std::free)> memory;
  ring_place place;
  std::unique_ptr<ring_producer> producer;
  std::unique_ptr<ring_consumer> consumer;
};

std::uint64_t record(std::uint32_t length, std::uint32_t lap) {
  return (std::uint64_t{lap | 0x8000'0000u} << 32) | length;
}

TEST(ShmRing, GivesMessagesInOrderAndNothingWhenEmpty) {
  ring r;
  EXPECT_EQ(r.pop(), "-");
  ASSERT_TRUE(r.push("one"));
  ASSERT_TRUE(r.push(""));
  ASSERT_TRUE(r.push("three"));
  EXPECT_EQ(r.pop(), "one");
  EXPECT_EQ(r.pop(), "");
  EXPECT_EQ(r.pop(), "three");
  EXPECT_EQ(r.pop(), "-");
}

TEST(ShmRing, JoinsHeaderAndDataOfEverySizeUpToTheLargest) {
  ring r;
  for (std::size_t bytes = 0; bytes <= r.place.max_message(); ++bytes) {
    std::string text(bytes, 'x');
    for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>('a' + (i + bytes) % 26);
    const auto all = std::as_bytes(std::span(text));
    const auto header = all.first(bytes / 3);
    ASSERT_TRUE(r.producer->try_push(header.first(header.size() / 2),
                                     header.subspan(header.size() / 2), all.subspan(bytes / 3)));
    ASSERT_EQ(r.pop(), text);
  }
}

TEST(ShmRing, RefusesWhenFullThenReusesReleasedLines) {
  ring r;
  std::size_t sent = 0;
  while (r.push(std::to_string(sent))) ++sent;
  EXPECT_EQ(sent, lines - 1u);  // one line stays free
  EXPECT_FALSE(r.producer->would_take(1));
  EXPECT_EQ(r.pop(), "0");
  EXPECT_TRUE(r.producer->would_take(1));
  EXPECT_TRUE(r.push("again"));
  EXPECT_FALSE(r.push("full"));
  for (std::size_t i = 1; i < sent; ++i) EXPECT_EQ(r.pop(), std::to_string(i));
  EXPECT_EQ(r.pop(), "again");
  EXPECT_EQ(r.pop(), "-");
}

TEST(ShmRing, KeepsTakenMessagesUntilTheyAreReleased) {
  ring r;
  ASSERT_TRUE(r.push("held"));
  std::span<const std::byte> held;
  ASSERT_EQ(r.consumer->try_take(held), ring_consumer::taken::message);
  EXPECT_TRUE(r.consumer->holds_messages());
  while (r.push("filler")) {
  }
  EXPECT_EQ(std::memcmp(held.data(), "held", 4), 0);
  r.consumer->release();
  EXPECT_FALSE(r.consumer->holds_messages());
  EXPECT_TRUE(r.push("now"));
}

TEST(ShmRing, SkipsTheEndWhenARecordDoesNotFitThere) {
  ring r;
  const std::string big(3 * ring_line, 'b');  // 4 lines
  for (int lap = 0; lap < 10; ++lap) {
    for (int i = 0; i < 61; ++i) {  // leaves fewer than 4 lines before the end in most laps
      ASSERT_TRUE(r.push("s"));
      ASSERT_EQ(r.pop(), "s");
    }
    ASSERT_TRUE(r.push(big));
    ASSERT_EQ(r.pop(), big);
  }
  EXPECT_EQ(r.pop(), "-");
}

TEST(ShmRing, NeverTakesTheMiddleOfAnOldMessageForANewOne) {
  // Fills continuation lines with what would be a valid record one lap later, then polls there.
  for (std::uint32_t lap = 0; lap < 20; ++lap) {
    ring r(std::uint64_t{lap} * lines);
    std::string evil(r.place.max_message(), '\0');
    for (std::size_t line = 1; line * ring_line <= evil.size(); ++line) {
      const std::uint64_t word = record(8, lap + 1);
      std::memcpy(&evil[line * ring_line - 8], &word, 8);
    }
    for (std::uint32_t i = 0; i < lines / 8; ++i) {
      ASSERT_TRUE(r.push(evil));
      ASSERT_EQ(r.pop(), evil);
      ASSERT_EQ(r.pop(), "-");
    }
    ASSERT_TRUE(r.push("single"));
    ASSERT_EQ(r.pop(), "single");
    ASSERT_EQ(r.pop(), "-");
    for (std::uint32_t i = 1; i < lines; ++i) {  // through the old lines, one by one
      ASSERT_TRUE(r.push("x"));
      ASSERT_EQ(r.pop(), "x");
      ASSERT_EQ(r.pop(), "-");
    }
  }
}

TEST(ShmRing, GoesOnWhereTheLapCounterOverflows) {
  for (const std::uint64_t lap : {0x7fff'ffffull, 0xffff'ffffull}) {
    ring r((lap - 1) * lines + 5);
    for (int i = 0; i < 500; ++i) {
      const std::string text(static_cast<std::size_t>(i) % 400, 'w');
      ASSERT_TRUE(r.push(text));
      ASSERT_EQ(r.pop(), text);
      ASSERT_EQ(r.pop(), "-");
    }
  }
}

TEST(ShmRing, ReportsARecordLongerThanAllowed) {
  ring r;
  r.overwrite(0, record(static_cast<std::uint32_t>(r.place.max_message()) + 1, 0));
  std::span<const std::byte> bytes;
  EXPECT_EQ(r.consumer->try_take(bytes), ring_consumer::taken::corrupt);
  EXPECT_TRUE(bytes.empty());
}

TEST(ShmRing, ReportsARecordThatLeavesTheRing) {
  ring r(lines - 2);
  r.overwrite(lines - 2, record(3 * ring_line, 0));
  std::span<const std::byte> bytes;
  EXPECT_EQ(r.consumer->try_take(bytes), ring_consumer::taken::corrupt);
}

TEST(ShmRing, ReportsEndlessPadding) {
  ring r(lines - 1);
  r.overwrite(lines - 1, record(0xffffffff, 0));
  r.overwrite(0, record(0xffffffff, 1));
  std::span<const std::byte> bytes;
  EXPECT_EQ(r.consumer->try_take(bytes), ring_consumer::taken::corrupt);
}

TEST(ShmRing, StaysInsideItsMemoryWhateverTheProducerWrites) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 20'000; ++round) {
    ring r(random() % (4 * lines));
    for (std::size_t line = 0; line < lines; ++line) {
      const auto lap = static_cast<std::uint32_t>(random() % 6);
      const auto length = static_cast<std::uint32_t>(random() >> (random() % 64));
      r.overwrite(line, record(length, lap));
    }
    std::span<const std::byte> bytes;
    for (std::uint32_t i = 0; i < 3 * lines; ++i) {
      if (r.consumer->try_take(bytes) != ring_consumer::taken::message) break;
      ASSERT_GE(bytes.data(), r.memory.get());
      ASSERT_LE(bytes.data() + bytes.size(), r.memory.get() + lines * ring_line);
    }
  }
}

/// Lines of a ring that were provided, in order: first and count.
struct portions {
  static void add(std::span<std::byte> part) noexcept {
    EXPECT_EQ(static_cast<std::size_t>(part.data() - begin) / ring_line, lines);
    lines += part.size() / ring_line;
  }
  static inline std::byte* begin = nullptr;
  static inline std::size_t lines = 0;
};

TEST(ShmRing, HasItsMemoryProvidedInPortionsAheadOfWhatIsWritten) {
  constexpr std::uint32_t count = 2048;
  const std::unique_ptr<std::byte, decltype(&std::free)> memory(
      static_cast<std::byte*>(std::aligned_alloc(64, count * ring_line)), &std::free);
  std::memset(memory.get(), 0, count * ring_line);
  ring_control control{};
  portions::begin = memory.get();
  portions::lines = 0;
  const ring_place place{&control, memory.get(), count, 0, portions::add};
  ring_producer producer(place);
  ring_consumer consumer(place);
  std::size_t most_unused = 0;
  for (std::size_t pushed = 0; pushed < std::size_t{3} * count; ++pushed) {
    ASSERT_TRUE(producer.try_push_line(pushed, 0, {}, {}));
    const std::size_t used = std::min<std::size_t>(pushed + 1, count);
    EXPECT_GE(portions::lines, std::min<std::size_t>(used + 1, count)) << "and the line behind it";
    most_unused = std::max(most_unused, portions::lines - used);
    std::span<const std::byte> bytes;
    ASSERT_EQ(consumer.try_take(bytes), ring_consumer::taken::message);
    consumer.release();
  }
  EXPECT_EQ(portions::lines, count) << "each line once";
  EXPECT_LE(most_unused, count / 2) << "only what is used soon";
}

TEST(ShmRing, TreatsAHeadThatCannotBeAsFull) {
  ring r;
  while (r.push("x")) {
  }
  // relaxed: no other thread
  r.control.head.store(1'000'000, std::memory_order_relaxed);
  EXPECT_FALSE(r.push("x"));
  r.control.head.store(~std::uint64_t{0}, std::memory_order_relaxed);
  EXPECT_FALSE(r.push("x"));
  r.control.head.store(10, std::memory_order_relaxed);
  EXPECT_TRUE(r.push("x"));
}

/// Sends `total` numbered messages of changing size as fast as they go in.
void produce(ring_producer& to, std::uint32_t total) {
  std::vector<std::uint32_t> words(112);
  for (std::uint32_t i = 0; i < total;) {
    const std::size_t count = 1 + i % words.size();
    std::fill_n(words.begin(), count, i);
    const auto bytes = std::as_bytes(std::span(words)).first(count * 4);
    if (to.try_push(bytes.first(4), {}, bytes.subspan(4))) {
      ++i;
    } else {
      std::this_thread::yield();
    }
  }
}

TEST(ShmRing, CarriesAMillionMessagesBetweenTwoThreads) {
  const auto total =
      static_cast<std::uint32_t>(test::scaled(test::sanitized ? 200'000 : 1'000'000));
  ring r;
  std::thread sender([&] { produce(*r.producer, total); });
  std::uint32_t wrong = 0;
  for (std::uint32_t i = 0; i < total;) {
    std::span<const std::byte> bytes;
    const auto result = r.consumer->try_take(bytes);
    if (result == ring_consumer::taken::corrupt) break;
    if (result == ring_consumer::taken::nothing) {
      if (r.consumer->holds_messages()) r.consumer->release();
      std::this_thread::yield();
      continue;
    }
    wrong += bytes.size() != 4 * (1 + i % 112);
    for (std::size_t at = 0; at + 4 <= bytes.size(); at += 4) {
      std::uint32_t word = 0;
      std::memcpy(&word, bytes.data() + at, 4);
      wrong += word != i;
    }
    if (++i % 3 == 0) r.consumer->release();
  }
  sender.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_FALSE(r.consumer->has_work());
}

}  // namespace
}  // namespace heddle::sync
