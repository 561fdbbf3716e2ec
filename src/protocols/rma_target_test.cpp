// SPDX-License-Identifier: BSD-3-Clause
// rma_target_test.cpp - the answers to a peer's fragments: what they do to the memory here, and
// that nothing is kept of them.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "protocols/fragments.h"
#include "support/lone_protocol.h"

namespace heddle::protocols {
namespace {

class RmaTarget : public LoneProtocol {
 protected:
  static constexpr std::uint64_t id = 99;

  RmaTarget() {
    for (const auto kind : {message_kind::rma_put, message_kind::rma_get, message_kind::rma_atomic,
                            message_kind::rma_done, message_kind::rma_value})
      lone_.kinds[index_of(kind)] = &target_;
  }
  message question(message_kind kind, std::uint64_t offset) const {
    message m;
    m.kind = kind;
    m.word = id;
    m.slot = region_.ref.slot;
    m.generation = region_.ref.generation;
    m.offset = offset;
    return m;
  }
  void put(std::uint64_t offset, std::span<const std::byte> data) {
    message m = question(message_kind::rma_put, offset);
    m.payload = data;
    target_.on_message(peer_, m);
  }
  void get(std::uint64_t offset, std::uint64_t bytes) {
    message m = question(message_kind::rma_get, offset);
    m.bytes = bytes;
    target_.on_message(peer_, m);
  }
  void atomic(std::uint64_t offset, atomic_op op, std::uint8_t width, std::uint64_t operand,
              std::uint64_t compare = 0) {
    message m = question(message_kind::rma_atomic, offset);
    m.flag = static_cast<std::uint8_t>(op);
    m.width = width;
    m.operand = operand;
    m.compare = compare;
    target_.on_message(peer_, m);
  }
  void expect_answer(message_kind kind, status code) const {
    EXPECT_EQ(last().kind, kind);
    EXPECT_EQ(last().word, id);
    EXPECT_EQ(status_of(last().flag), code) << name_of(status_of(last().flag));
  }
  void allow(rights r) {
    regions_.remove(region_.ref);
    region_ = regions_.add(memory_, r);
  }

  alignas(8) std::array<std::byte, 6000> memory_{};
  memory::local_region region_ = regions_.add(memory_, rights::all);
  rma_target target_{where_, lone_.path};
};

TEST_F(RmaTarget, WritesAFragmentWhereItBelongsAndSaysSo) {
  const std::array data{std::byte{1}, std::byte{2}, std::byte{3}};
  put(100, data);
  EXPECT_TRUE(std::ranges::equal(std::span(memory_).subspan(100, 3), data));
  EXPECT_EQ(memory_[99], std::byte{0});
  EXPECT_EQ(memory_[103], std::byte{0});
  expect_answer(message_kind::rma_done, status::done);
}

TEST_F(RmaTarget, WritesNothingThatAPeerMayNotWrite) {
  const std::array data{std::byte{1}, std::byte{2}};
  put(memory_.size() - 1, data);
  expect_answer(message_kind::rma_done, status::out_of_bounds);
  put(~std::uint64_t{0}, data);
  expect_answer(message_kind::rma_done, status::out_of_bounds);
  allow(rights::read | rights::atomic);
  put(0, data);
  expect_answer(message_kind::rma_done, status::denied);
  regions_.remove(region_.ref);
  put(0, data);
  expect_answer(message_kind::rma_done, status::withdrawn);
  EXPECT_EQ(memory_, decltype(memory_){});
}

TEST_F(RmaTarget, ReadsWhatIsAskedForAndSaysWhereItLay) {
  memory_[40] = std::byte{9};
  get(40, 2);
  expect_answer(message_kind::rma_data, status::done);
  EXPECT_EQ(last().position, 40u);
  ASSERT_EQ(last().payload.size(), 2u);
  EXPECT_EQ(last().payload[0], std::byte{9});
}

TEST_F(RmaTarget, ReadsNoMoreThanOneMessageHolds) {
  get(0, memory_.size());
  expect_answer(message_kind::rma_data, status::done);
  EXPECT_EQ(last().payload.size(), peer_.max_payload);
}

TEST_F(RmaTarget, ReadsNothingThatAPeerMayNotRead) {
  get(memory_.size() - 1, 2);
  expect_answer(message_kind::rma_data, status::out_of_bounds);
  EXPECT_TRUE(last().payload.empty());
  allow(rights::write);
  get(0, 2);
  expect_answer(message_kind::rma_data, status::denied);
  EXPECT_TRUE(last().payload.empty());
}

// It keeps the question, not the answer: no bytes, and no region that is pinned.
TEST_F(RmaTarget, ReadsWhenTheAnswerCanLeave) {
  wire_.room = 0;
  get(0, 1);
  get(1, 1);
  memory_[0] = std::byte{5};
  makes_room(1);
  expect_answer(message_kind::rma_data, status::done);
  EXPECT_EQ(last().payload[0], std::byte{5});
  regions_.remove(region_.ref);
  makes_room();
  expect_answer(message_kind::rma_data, status::withdrawn);
}

TEST_F(RmaTarget, ChangesAWordAndTellsWhatItWas) {
  std::uint64_t word = (std::uint64_t{1} << 40) + 5;
  std::memcpy(&memory_[8], &word, sizeof word);
  atomic(8, atomic_op::add, 8, 10);
  expect_answer(message_kind::rma_value, status::done);
  EXPECT_EQ(last().value, word);
  std::memcpy(&word, &memory_[8], sizeof word);
  EXPECT_EQ(word, (std::uint64_t{1} << 40) + 15);
  atomic(8, atomic_op::compare_swap, 8, 77, word);
  EXPECT_EQ(last().value, word);
  std::memcpy(&word, &memory_[8], sizeof word);
  EXPECT_EQ(word, 77u);
}

TEST_F(RmaTarget, ChangesNothingBesideAWordOfFourBytes) {
  memory_[4] = std::byte{255};
  memory_[7] = std::byte{255};
  atomic(4, atomic_op::add, 4, 0xffff'ffff);
  expect_answer(message_kind::rma_value, status::done);
  EXPECT_EQ(last().value, 0xff00'00ffu);
  EXPECT_EQ(memory_[4], std::byte{254});
  EXPECT_EQ(memory_[8], std::byte{0});
}

TEST_F(RmaTarget, ChangesNoWordThatAPeerMayNotChange) {
  atomic(4, atomic_op::add, 8, 1);
  expect_answer(message_kind::rma_value, status::misaligned);
  atomic(2, atomic_op::add, 4, 1);
  expect_answer(message_kind::rma_value, status::misaligned);
  atomic(memory_.size() - 4, atomic_op::add, 8, 1);
  expect_answer(message_kind::rma_value, status::out_of_bounds);
  allow(rights::read | rights::write);
  atomic(0, atomic_op::add, 8, 1);
  expect_answer(message_kind::rma_value, status::denied);
  EXPECT_EQ(memory_, decltype(memory_){});
  EXPECT_TRUE(lone_.losses.lost.empty());
}

TEST_F(RmaTarget, LosesAPeerThatAsksForAnAtomicThatThereIsNot) {
  const auto last_op = static_cast<std::uint8_t>(last_atomic_op);
  atomic(0, static_cast<atomic_op>(last_op + 1), 8, 1);
  EXPECT_EQ(lone_.losses.lost.size(), 1u);
  for (const std::uint8_t width : {std::uint8_t{0}, std::uint8_t{2}, std::uint8_t{16}}) {
    lone_.losses.lost.clear();
    atomic(0, atomic_op::add, width, 1);
    EXPECT_EQ(lone_.losses.lost.size(), 1u) << "of " << +width << " bytes";
  }
  EXPECT_TRUE(wire_.messages.empty());
  EXPECT_EQ(memory_[0], std::byte{0});
}

}  // namespace
}  // namespace heddle::protocols
