// SPDX-License-Identifier: BSD-3-Clause
// parts_test.cpp - the parts of a lane that need no hardware.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <deque>
#include <optional>
#include <set>
#include <vector>

#include "backends/utofu/buffers.h"
#include "backends/utofu/message_ring.h"
#include "backends/utofu/nap.h"
#include "backends/utofu/notice_window.h"
#include "backends/utofu/pending.h"
#include "backends/utofu/shared_memory.h"

namespace heddle::transport::utofu {
namespace {

class PendingQueue : public testing::Test {
 protected:
  void push(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) push_one(i);
  }
  void push_one(std::size_t i) {
    queue.reserve();
    queue.push(pending(ops[i], ending::copied));
  }
  [[nodiscard]] bool is(const pending& found, std::size_t i) const {
    return found == pending(const_cast<op&>(ops[i]), ending::copied);
  }
  std::vector<op> ops = std::vector<op>(1000);
  pending_queue queue;
};

TEST_F(PendingQueue, FindsEachByItsNumberInTheOrderTheyWerePosted) {
  push(1000);
  for (std::size_t i = 0; i < 1000; ++i) EXPECT_TRUE(is(queue.take(i % edata_numbers), i));
  EXPECT_TRUE(queue.empty());
}

TEST_F(PendingQueue, SaysWhoseTheOperationIsAndWhatItsEndMeans) {
  push(1);
  const pending found = queue.take(0);
  EXPECT_EQ(&found.operation(), &ops[0]);
  EXPECT_EQ(found.how(), ending::copied);
  EXPECT_TRUE(found.is_op());
}

TEST_F(PendingQueue, FindsEachWhenNoticesOvertakeOneAnother) {
  push(200);
  for (std::size_t i = 0; i < 100; ++i) {  // in pairs, the second one first
    EXPECT_TRUE(is(queue.take((2 * i + 1) % edata_numbers), 2 * i + 1));
    EXPECT_TRUE(is(queue.take(2 * i % edata_numbers), 2 * i));
  }
  EXPECT_TRUE(queue.empty());
}

TEST_F(PendingQueue, HasNothingForANoticeOfNobody) {
  EXPECT_FALSE(queue.take(0));
  push(1);
  EXPECT_FALSE(queue.take(1));
  EXPECT_FALSE(queue.take(edata_message));
  EXPECT_TRUE(is(queue.take(0), 0));
  EXPECT_FALSE(queue.take(0));
}

TEST_F(PendingQueue, GivesThePositionBackOfWhatWasNotPostedAfterAll) {
  push(1);
  const std::uint64_t position = queue.position();
  push_one(1);
  EXPECT_TRUE(is(queue.unpush(), 1));
  EXPECT_EQ(queue.position(), position);
  EXPECT_TRUE(is(queue.take_oldest(), 0));
  EXPECT_TRUE(queue.empty());
}

TEST_F(PendingQueue, LosesOneThatWillHaveNoNoticeByItsPosition) {
  push(300);
  EXPECT_TRUE(is(queue.take_at(130), 130));  // not 2, which has the same number
  EXPECT_FALSE(queue.take_at(130));
  for (std::size_t i = 0; i < 300; ++i) {
    if (i == 130) continue;
    EXPECT_TRUE(is(queue.take(i % edata_numbers), i));
  }
  EXPECT_TRUE(queue.empty());
}

TEST(VcqTable, FindsWhatWasPutInAndNothingElse) {
  vcq_table table;
  std::vector<remote_vcq*> added;
  for (std::uint64_t i = 1; i <= 1000; ++i) added.push_back(&table.add(i * 0x1'0000'0001, 0));
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    EXPECT_EQ(table.find(i * 0x1'0000'0001), added[i - 1]);
    EXPECT_EQ(table.at(added[i - 1]->index), added[i - 1]);
  }
  EXPECT_EQ(&table.add(0x1'0000'0001, 0), added[0]);
  EXPECT_EQ(table.find(42), nullptr);
  EXPECT_EQ(table.at(0), nullptr);
  EXPECT_EQ(table.at(1001), nullptr);
}

TEST(NoticeWindow, IsFullByOperationsAndLinesTogether) {
  notice_window window(8);
  window.occupy(5);
  window.open();
  window.open();
  EXPECT_FALSE(window.full());
  window.open();
  EXPECT_TRUE(window.full());
  window.close();
  EXPECT_FALSE(window.full());
}

TEST(NoticeWindow, IsCrowdedByLinesAloneThatNobodyFrees) {
  notice_window window(8);
  for (int i = 0; i < 6; ++i) window.open();
  EXPECT_FALSE(window.crowded());
  window.occupy(6);
  EXPECT_TRUE(window.crowded());
  window.vacate(1);
  EXPECT_FALSE(window.crowded());
}

/// A buffer over memory of its own.
struct Buffer {
  explicit Buffer(std::size_t bytes) : memory(bytes) {}
  send_buffer::piece take(std::size_t bytes) {
    send_buffer::piece p;
    EXPECT_TRUE(pieces.find(bytes, p));
    pieces.take(p);
    return p;
  }
  std::vector<std::byte> memory;
  send_buffer pieces{{memory, 0x1000}};
};

TEST(SendBuffer, GivesPiecesInsideItsMemoryWithTheirSteeringAddress) {
  Buffer b(1024);
  for (int i = 0; i < 100; ++i) {
    const auto piece = b.take(300);
    const auto at = static_cast<std::size_t>(piece.at - b.memory.data());
    EXPECT_LE(at + 300, b.memory.size());
    EXPECT_EQ(piece.address, 0x1000 + at);
    b.pieces.free_up_to(piece.end);
  }
}

TEST(SendBuffer, GoesRoundInAFewWarmLinesWhileLittleIsUnderWay) {
  Buffer b(256 * 1024);
  std::deque<std::uint64_t> under_way;
  for (int i = 0; i < 10'000; ++i) {
    const auto piece = b.take(200);
    EXPECT_LT(piece.at - b.memory.data(), 32 * 1024);
    under_way.push_back(piece.end);
    if (under_way.size() < 32) continue;
    b.pieces.free_up_to(under_way.front());
    under_way.pop_front();
  }
}

TEST(SendBuffer, HasNoRoomWhenItIsFullAndRoomAgainFromTheOldestOn) {
  Buffer b(1024);
  const auto first = b.take(512);
  b.take(512);
  send_buffer::piece none;
  EXPECT_FALSE(b.pieces.find(64, none));
  b.pieces.free_up_to(first.end);
  EXPECT_TRUE(b.pieces.find(64, none));
}

TEST(SendBuffer, TakesTheLastOneBack) {
  Buffer b(1024);
  const auto first = b.take(512);
  b.take(512);
  b.pieces.retreat(first.end);
  b.take(512);
}

TEST(SlotPool, GivesEachSlotOnceAndTheOneFreedLastNext) {
  std::vector<std::byte> memory(1000);
  slot_pool pool({memory, 0x1000}, 256);
  std::set<std::byte*> slots;
  while (std::byte* const slot = pool.take()) {
    EXPECT_LE(slot + 256, memory.data() + memory.size());
    EXPECT_EQ(pool.address_of(slot), 0x1000 + static_cast<std::size_t>(slot - memory.data()));
    slots.insert(slot);
  }
  EXPECT_EQ(slots.size(), 3u);
  pool.give_back(*slots.rbegin());
  pool.give_back(*slots.begin());
  EXPECT_EQ(pool.take(), *slots.begin());
}

/// Both ends of a ring of 64 lines.
class MessageRing : public testing::TestWithParam<bool> {
 protected:
  MessageRing() {
    out.open(0, 64, GetParam());
    in.open(memory.data(), 64, GetParam(), nonce);
  }
  /// As a lane does. Returns whether it wrapped; nothing: there was no room.
  std::optional<bool> send(std::size_t bytes, std::uint32_t credits = 0) {
    const bool polled = GetParam();
    const std::size_t total = polled ? stamp_at(bytes) + sizeof(stamp_t) : 8 + bytes;
    auto to = out.next(total);
    if (!out.has_room(to.lines)) return {};
    if (polled && to.skipped != 0) {
      const wrap_mark mark(stamp_of(nonce, out.position()));
      std::memcpy(memory.data() + out.address(), &mark, sizeof mark);
      out.advance(to.skipped);
      to = out.next(total);
    }
    write(to.address, {static_cast<std::uint16_t>(bytes), stamp16(), credits});
    const stamp_t stamp = stamp_of(nonce, out.position());
    if (polled) std::memcpy(memory.data() + to.address + stamp_at(bytes), &stamp, sizeof stamp);
    out.advance(to.lines);
    return to.skipped != 0;
  }
  bool receive(bool wrapped, incoming_message& m) {
    return GetParam() ? in.look(m) : in.take(wrapped, m);
  }
  void write(std::uint64_t at, message_header head) {
    std::memcpy(memory.data() + at, &head, sizeof head);
  }
  [[nodiscard]] std::uint16_t stamp16() const {
    return static_cast<std::uint16_t>(stamp_of(nonce, out.position()));
  }
  static constexpr std::uint64_t nonce = 0x1234'5678'9abc'def1;
  std::vector<std::byte> memory = std::vector<std::byte>(64 * line_bytes);
  outgoing_ring out;
  incoming_ring in;
};
INSTANTIATE_TEST_SUITE_P(, MessageRing, testing::Bool(),
                         [](const auto& p) { return p.param ? "polled" : "noticed"; });

TEST_P(MessageRing, BringsEachMessageOnceInOrderRoundAndRound) {
  for (std::size_t i = 0; i < 1000; ++i) {
    const auto wrapped = send(i * 37 % 4000, 7);
    ASSERT_TRUE(wrapped.has_value());
    incoming_message m;
    ASSERT_TRUE(receive(*wrapped, m));
    EXPECT_EQ(m.bytes.size(), i * 37 % 4000);
    EXPECT_EQ(m.credits, 7u);
    EXPECT_TRUE(in.holds());
    in.release();
    EXPECT_GT(out.free_up_to(static_cast<std::uint32_t>(in.released())), 0u);
    EXPECT_EQ(out.under_way(), 0u);
  }
}

TEST_P(MessageRing, HasNoRoomUntilTheReceiverHasFreedSome) {
  while (send(200)) {
  }
  EXPECT_EQ(out.under_way(), 64u);
  incoming_message m;
  ASSERT_TRUE(receive(false, m));
  EXPECT_EQ(in.untold(), 0u);
  in.release();
  EXPECT_EQ(in.untold(), 1u);
  EXPECT_EQ(out.free_up_to(1), 1u);
  EXPECT_TRUE(send(200).has_value());
}

TEST_P(MessageRing, GivesNoCreditForNonsense) {
  ASSERT_TRUE(send(200).has_value());
  EXPECT_EQ(out.free_up_to(2), 0u);    // more than was sent
  EXPECT_EQ(out.free_up_to(~0u), 0u);  // less than was freed
  EXPECT_EQ(out.free_up_to(1), 1u);
  EXPECT_EQ(out.free_up_to(1), 0u);
}

TEST_P(MessageRing, TakesNothingThatIsLongerThanTheRing) {
  out.advance(60);
  write(0, {4000, stamp16(), 0});
  for (int i = 0; i < 60; ++i) {
    incoming_message m;
    write(static_cast<std::uint64_t>(i) * line_bytes, {1, 0, 0});
    ASSERT_TRUE(GetParam() || in.take(false, m));
  }
  write(60 * line_bytes, {4000, stamp16(), 0});
  incoming_message m;
  EXPECT_FALSE(receive(false, m));
}

class PolledRing : public MessageRing {};
INSTANTIATE_TEST_SUITE_P(, PolledRing, testing::Values(true));

TEST_P(PolledRing, NeverTakesOldDataForTheSignToGoRound) {
  for (std::uint32_t i = 0; i <= UINT16_MAX; ++i) {  // in one of them the stamp begins with 0xffff
    std::memset(memory.data() + out.address(), 0xff, line_bytes);
    incoming_message m;
    ASSERT_FALSE(in.look(m)) << i;
    ASSERT_TRUE(send(100).has_value());
    ASSERT_TRUE(in.look(m)) << i;
    in.release();
    out.free_up_to(static_cast<std::uint32_t>(in.released()));
  }
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

TEST(Nap, LastsAnEighthOfTheSilenceWithinBounds) {
  nap of_lane(1000);
  EXPECT_EQ(of_lane.begin(1000), first_nap_ns);
  EXPECT_EQ(of_lane.begin(1000 + 80'000'000), 10'000'000U);
  EXPECT_EQ(of_lane.begin(1000 + 8'000'000'000), longest_nap_ns);
}

TEST(Nap, IsShortAgainBehindNewsAndGrowsOnBehindALookInVain) {
  nap of_lane(0);
  of_lane.saw(true);
  of_lane.saw(false);
  EXPECT_EQ(of_lane.begin(80'000'000), first_nap_ns);
  of_lane.saw(false);
  EXPECT_EQ(of_lane.begin(160'000'000), 10'000'000U);
}

}  // namespace
}  // namespace heddle::transport::utofu
