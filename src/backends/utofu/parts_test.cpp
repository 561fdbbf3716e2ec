// parts_test.cpp - the parts of a lane that need no hardware.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "backends/utofu/flight.h"
#include "backends/utofu/shared_memory.h"
#include "backends/utofu/staging.h"

namespace heddle::transport::utofu {
namespace {

class FlightQueue : public testing::Test {
 protected:
  void push(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) queue.push(flight_queue::entry(flights[i]));
  }
  std::vector<flight> flights = std::vector<flight>(1000);
  flight_queue queue;
};

TEST_F(FlightQueue, FindsEachByItsNumberInTheOrderTheyWerePosted) {
  push(1000);
  for (std::size_t i = 0; i < 1000; ++i)
    EXPECT_EQ(queue.take(i % edata_numbers).tracked(), &flights[i]);
  EXPECT_TRUE(queue.empty());
}

TEST_F(FlightQueue, FindsEachWhenNoticesOvertakeOneAnother) {
  push(200);
  for (std::size_t i = 0; i < 100; ++i) {  // in pairs, the second one first
    EXPECT_EQ(queue.take((2 * i + 1) % edata_numbers).tracked(), &flights[2 * i + 1]);
    EXPECT_EQ(queue.take(2 * i % edata_numbers).tracked(), &flights[2 * i]);
  }
  EXPECT_TRUE(queue.empty());
}

TEST_F(FlightQueue, HasNothingForANoticeOfNobody) {
  EXPECT_FALSE(queue.take(0).there());
  push(1);
  EXPECT_FALSE(queue.take(1).there());
  EXPECT_FALSE(queue.take(edata_message).there());
  EXPECT_EQ(queue.take(0).tracked(), &flights[0]);
  EXPECT_FALSE(queue.take(0).there());
}

TEST_F(FlightQueue, GivesTheNumberBackOfWhatWasNotPostedAfterAll) {
  push(1);
  const std::uint8_t number = queue.next_edata();
  queue.push(flight_queue::entry(flights[1]));
  queue.unpush();
  EXPECT_EQ(queue.next_edata(), number);
  EXPECT_EQ(queue.take_oldest().tracked(), &flights[0]);
  EXPECT_TRUE(queue.empty());
}

TEST_F(FlightQueue, ForgetsOneThatWillHaveNoNotice) {
  push(3);
  queue.forget(flights[0]);
  EXPECT_EQ(queue.take(1).tracked(), &flights[1]);
  EXPECT_EQ(queue.take(2).tracked(), &flights[2]);
  EXPECT_TRUE(queue.empty());
}

TEST(StreamMap, FindsWhatWasPutInAndNothingElse) {
  stream_map map;
  std::vector<std::unique_ptr<stream>> streams;
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    streams.push_back(std::make_unique<stream>());
    map.insert(i * 0x1'0000'0001, streams.back().get());
  }
  for (std::uint64_t i = 1; i <= 1000; ++i)
    EXPECT_EQ(map.find(i * 0x1'0000'0001), streams[i - 1].get());
  EXPECT_EQ(map.find(42), nullptr);
}

/// A ring over memory of its own.
struct Ring {
  std::vector<std::byte> memory = std::vector<std::byte>(1024);
  staging pieces{memory, 0x1000};
};

TEST(Staging, GivesPiecesInsideItsMemoryWithTheirSteeringAddress) {
  Ring ring;
  for (int i = 0; i < 100; ++i) {
    const auto piece = ring.pieces.take(300);
    ASSERT_TRUE(piece);
    const auto at = static_cast<std::size_t>(piece->at - ring.memory.data());
    EXPECT_LE(at + 300, ring.memory.size());
    EXPECT_EQ(piece->address, 0x1000 + at);
    ring.pieces.give_back(piece->ticket);
  }
  EXPECT_TRUE(ring.pieces.empty());
}

TEST(Staging, GoesRoundInAFewWarmLinesWhileLittleIsUnderWay) {
  std::vector<std::byte> memory(256 * 1024);
  staging pieces(memory, 0);
  std::deque<std::uint32_t> under_way;
  for (int i = 0; i < 10'000; ++i) {
    const auto piece = pieces.take(200);
    ASSERT_TRUE(piece);
    EXPECT_LT(piece->at - memory.data(), 32 * 1024);
    under_way.push_back(piece->ticket);
    if (under_way.size() < 32) continue;
    pieces.give_back(under_way.front());
    under_way.pop_front();
  }
}

TEST(Staging, HasNoRoomWhenItIsFullAndRoomAgainFromTheOldestOn) {
  Ring ring;
  const auto first = ring.pieces.take(512), second = ring.pieces.take(512);
  ASSERT_TRUE(first && second);
  EXPECT_FALSE(ring.pieces.take(64));
  ring.pieces.give_back(second->ticket);
  EXPECT_FALSE(ring.pieces.take(64));
  ring.pieces.give_back(first->ticket);
  EXPECT_TRUE(ring.pieces.take(64));
}

TEST(Staging, TakesTheLastOneBack) {
  Ring ring;
  ASSERT_TRUE(ring.pieces.take(512));
  ASSERT_TRUE(ring.pieces.take(512));
  ring.pieces.untake();
  EXPECT_TRUE(ring.pieces.take(512));
}

TEST(Staging, CountsWhatTakesNoBytes) {
  Ring ring;
  std::uint32_t last = 0;
  for (int i = 0; i < 1000; ++i) last = ring.pieces.take(0)->ticket;
  EXPECT_FALSE(ring.pieces.empty());
  ring.pieces.give_back_up_to(last);
  EXPECT_TRUE(ring.pieces.empty());
}

TEST(Grant, IsKnownFromMemoryThatNobodyHasWritten) {
  const grant empty;
  EXPECT_NE(empty.check, check_sum(empty));
  grant written{1, 2, 3, 4, 0, 5, 6, 0};
  written.check = check_sum(written);
  for (std::size_t cut = 0; cut < sizeof written; ++cut) {  // it comes in order of addresses
    grant partly;
    std::memcpy(&partly, &written, cut);
    const bool all_there = std::memcmp(&partly, &written, sizeof written) == 0;
    EXPECT_TRUE(all_there || partly.check != check_sum(partly)) << cut;
  }
}

TEST(CommonTag, BelongsToTheFirstSymmetricArraysOnly) {
  EXPECT_EQ(common_tag(memory::region_table::symmetric_ref(0)), unsigned{tag_symmetric});
  EXPECT_EQ(common_tag(memory::region_table::symmetric_ref(tagged_arrays - 1)), tag_writable - 1u);
  EXPECT_EQ(common_tag(memory::region_table::symmetric_ref(tagged_arrays)), 0u);
  EXPECT_EQ(common_tag(memory::region_table::symmetric_ref(memory::region_table::symmetric_slots)),
            0u);
  EXPECT_EQ(common_tag({}), 0u);
}

}  // namespace
}  // namespace heddle::transport::utofu
