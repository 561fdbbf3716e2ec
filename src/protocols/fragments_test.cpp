// SPDX-License-Identifier: BSD-3-Clause
// fragments_test.cpp - the initiator of puts, gets and atomics by messages: its window, what it
// believes of the answers, and the end.
#include "protocols/fragments.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "support/lone_protocol.h"

namespace heddle::protocols {
namespace {

using transport::op_kind;

class Fragments : public LoneProtocol {
 protected:
  static constexpr std::size_t window = 8;

  request& start(op_kind kind, std::size_t bytes) {
    memory_.assign(bytes, std::byte{});
    request& r = begin(kind, memory_, owner_);
    r.by = carrier::messages;
    r.base = 100;
    answer_ = lone_.path.submit(r);
    return r;
  }
  /// Of so many messages and the given rest of one.
  [[nodiscard]] std::size_t bytes_of(std::size_t messages, std::size_t rest = 0) const {
    return messages * peer_.max_payload + rest;
  }
  void reply(const message& m) { fragments_.on_message(peer_, m); }
  /// The target has written a fragment.
  void written(const request& r, status code = status::done) {
    message m;
    m.kind = message_kind::rma_done;
    m.word = r.id();
    m.flag = static_cast<std::uint8_t>(code);
    reply(m);
  }
  /// The target has read a fragment of so many bytes.
  void read(const request& r, std::uint64_t position, const std::vector<std::byte>& bytes,
            status code = status::done) {
    message m;
    m.kind = message_kind::rma_data;
    m.word = r.id();
    m.position = position;
    m.flag = static_cast<std::uint8_t>(code);
    m.payload = bytes;
    reply(m);
  }
  [[nodiscard]] bool lost() const { return !lone_.losses.lost.empty(); }

  fragments fragments_{lone_.path, lone_.ops, lone_.counters};
  test_owner owner_{lone_.path, lone_.ops, [this](request& r) { return fragments_.start(r); }};
  std::vector<std::byte> memory_;
  status answer_ = status::invalid;
};

TEST_F(Fragments, CoverAPutOnce) {
  request& r = start(op_kind::put, bytes_of(2, 10));
  EXPECT_EQ(answer_, status::posted);
  std::uint64_t at = 100;
  for (const message& m : sent()) {
    EXPECT_EQ(m.kind, message_kind::rma_put);
    EXPECT_EQ(m.word, r.id());
    EXPECT_EQ((memory::region_ref{m.slot, m.generation}), r.region);
    EXPECT_EQ(m.offset, at);
    at += m.payload.size();
  }
  EXPECT_EQ(at, 100 + memory_.size());
  EXPECT_EQ(wire_.messages.size(), 3u);
}

TEST_F(Fragments, EndOnceWithTheLastAnswer) {
  request& r = start(op_kind::put, bytes_of(2));
  written(r);
  EXPECT_TRUE(owner_.ends.empty());
  const std::uint64_t id = r.id();
  written(r);
  EXPECT_EQ(owner_.ends, std::vector{status::done});
  message late;
  late.kind = message_kind::rma_done;
  late.word = id;
  reply(late);
  EXPECT_EQ(owner_.ends.size(), 1u);
}

TEST_F(Fragments, KeepAWindowUnderWay) {
  request& r = start(op_kind::put, bytes_of(window + 2));
  EXPECT_EQ(wire_.messages.size(), window);
  written(r);
  EXPECT_EQ(wire_.messages.size(), window + 1);
  for (std::size_t i = 0; i < window; ++i) written(r);
  EXPECT_EQ(wire_.messages.size(), window + 2);
  EXPECT_TRUE(owner_.ends.empty());
  written(r);
  EXPECT_EQ(owner_.ends, std::vector{status::done});
}

TEST_F(Fragments, GoOnWhereTheWireHadNoRoom) {
  wire_.room = 1;
  request& r = start(op_kind::put, bytes_of(3));
  EXPECT_EQ(answer_, status::posted);
  EXPECT_EQ(wire_.messages.size(), 1u);
  written(r);  // of the one that has left, while the others wait
  EXPECT_EQ(r.at, stage::backlog);
  makes_room();
  EXPECT_EQ(wire_.messages.size(), 3u);
  EXPECT_EQ(sent()[1].offset, 100 + peer_.max_payload);
  written(r);
  written(r);
  EXPECT_EQ(owner_.ends, std::vector{status::done});
}

TEST_F(Fragments, AskForAGetAndPutTheAnswersWhereTheyBelong) {
  request& r = start(op_kind::get, bytes_of(1, 10));
  ASSERT_EQ(sent_kinds(), (std::vector{message_kind::rma_get, message_kind::rma_get}));
  EXPECT_EQ(sent()[0].bytes, peer_.max_payload);
  EXPECT_EQ(sent()[1].bytes, 10u);
  read(r, 100 + peer_.max_payload, std::vector(10, std::byte{2}));  // the last one first
  EXPECT_TRUE(owner_.ends.empty());
  read(r, 100, std::vector(peer_.max_payload, std::byte{1}));
  EXPECT_EQ(owner_.ends, std::vector{status::done});
  EXPECT_EQ(memory_[peer_.max_payload - 1], std::byte{1});
  EXPECT_EQ(memory_[peer_.max_payload], std::byte{2});
}

TEST_F(Fragments, WriteNothingOutsideTheMemoryOfAGetWhateverThePeerAnswers) {
  const auto answer = [&](std::uint64_t position, std::size_t bytes) {
    lone_.losses.lost.clear();
    request& r = start(op_kind::get, 10);
    memory_.resize(20);
    r.local = std::span(memory_).subspan(5, 10);
    read(r, position, std::vector(bytes, std::byte{1}));
    EXPECT_TRUE(lost()) << bytes << " bytes at " << position;
    EXPECT_EQ(memory_, std::vector<std::byte>(20));
    EXPECT_TRUE(owner_.ends.empty()) << "it ends with its peer";
    lone_.ops.release(r);
  };
  answer(99, 1);
  answer(100 + 10, 1);
  answer(100 + 9, 2);
  answer(100, 11);
  answer(100, 0);
}

TEST_F(Fragments, LoseAPeerThatAnswersMoreThanItWasAsked) {
  wire_.room = 1;
  request& r = start(op_kind::get, bytes_of(2));
  read(r, 100, std::vector(bytes_of(2), std::byte{1}));
  EXPECT_TRUE(lost());
  EXPECT_TRUE(owner_.ends.empty());
}

TEST_F(Fragments, FailOnceAllThatIsUnderWayHasBeenAnswered) {
  request& r = start(op_kind::put, bytes_of(window + 5));
  written(r, status::withdrawn);
  EXPECT_EQ(wire_.messages.size(), window) << "nothing more of it leaves";
  for (std::size_t i = 2; i < window; ++i) written(r);
  EXPECT_TRUE(owner_.ends.empty()) << "the target may still write";
  written(r);
  EXPECT_EQ(owner_.ends, std::vector{status::withdrawn});
}

TEST_F(Fragments, FailAtOnceWhenNothingIsUnderWay) {
  wire_.answer = status::no_memory;
  (void)start(op_kind::put, bytes_of(2));
  EXPECT_EQ(answer_, status::no_memory);
  EXPECT_EQ(lone_.ops.pool().in_use(), 0u);
}

TEST_F(Fragments, FailLaterWhenOneOfThemCannotBeSent) {
  wire_.room = 1;
  request& r = start(op_kind::put, bytes_of(3));
  wire_.answer = status::no_memory;
  makes_room();
  EXPECT_TRUE(owner_.ends.empty()) << "one is under way";
  written(r);
  EXPECT_EQ(owner_.ends, std::vector{status::no_memory});
}

TEST_F(Fragments, TakeNoAnswerOfAnotherPeerOrToAnotherQuestion) {
  request& r = start(op_kind::put, bytes_of(1));
  message m;
  m.kind = message_kind::rma_done;
  m.word = r.id();
  fragments_.on_message(other_lane_, m);
  m.kind = message_kind::rma_value;
  reply(m);
  EXPECT_TRUE(owner_.ends.empty());
  r.by = carrier::undecided;  // the wire has it
  m.kind = message_kind::rma_done;
  reply(m);
  EXPECT_TRUE(owner_.ends.empty());
}

TEST_F(Fragments, TakeNoAnswerToWhatHasNotLeft) {
  wire_.room = 0;
  request& r = start(op_kind::put, bytes_of(1));
  written(r);
  EXPECT_TRUE(owner_.ends.empty());
  EXPECT_EQ(r.moved, 0u);
}

TEST_F(Fragments, BringAnAtomicsOldValue) {
  memory_.resize(8);
  request& r = begin(op_kind::atomic, memory_, owner_);
  r.by = carrier::messages;
  r.base = 16;
  r.atomic = atomic_op::compare_swap;
  r.width = 8;
  r.operand = 5;
  r.compare = 6;
  ASSERT_EQ(lone_.path.submit(r), status::posted);
  ASSERT_EQ(sent_kinds(), std::vector{message_kind::rma_atomic});
  EXPECT_EQ(last().flag, static_cast<std::uint8_t>(atomic_op::compare_swap));
  EXPECT_EQ(last().width, 8);
  EXPECT_EQ(last().offset, 16u);
  EXPECT_EQ(last().operand, 5u);
  EXPECT_EQ(last().compare, 6u);
  message m;
  m.kind = message_kind::rma_value;
  m.word = r.id();
  m.value = 0x0102;
  reply(m);
  EXPECT_EQ(owner_.ends, std::vector{status::done});
  EXPECT_EQ(memory_[0], std::byte{2});
  EXPECT_EQ(memory_[1], std::byte{1});
}

TEST_F(Fragments, BringNoOldValueWhereNobodyWantsItOrThereIsNone) {
  request& unwanted = begin(op_kind::atomic, {}, owner_);
  memory_.assign(8, std::byte{9});
  request& refused = begin(op_kind::atomic, memory_, owner_);
  for (request* each : {&unwanted, &refused}) {
    each->by = carrier::messages;
    ASSERT_EQ(lone_.path.submit(*each), status::posted);
  }
  message m;
  m.kind = message_kind::rma_value;
  m.value = ~std::uint64_t{0};
  m.word = unwanted.id();
  reply(m);
  m.word = refused.id();
  m.flag = static_cast<std::uint8_t>(status::denied);
  reply(m);
  EXPECT_EQ(owner_.ends, (std::vector{status::done, status::denied}));
  EXPECT_EQ(memory_, std::vector(8, std::byte{9}));
}

TEST_F(Fragments, DoWhatTheWireSaysItCannot) {
  wire_.answer = status::posted;
  memory_.resize(10);
  request& native = begin(op_kind::put, memory_, owner_);
  EXPECT_EQ(fragments_.start_on_wire(native), status::posted);
  EXPECT_EQ(native.at, stage::wire);
  EXPECT_TRUE(wire_.messages.empty());
  EXPECT_EQ(lone_.counters.emulated.get(), 0u);
  wire_.refused = transport::only(op_kind::put);  // this region
  request& r = begin(op_kind::put, memory_, owner_);
  EXPECT_EQ(fragments_.start_on_wire(r), status::posted);
  EXPECT_EQ(r.by, carrier::messages);
  EXPECT_EQ(sent_kinds(), std::vector{message_kind::rma_put});
  EXPECT_EQ(lone_.counters.emulated.get(), 1u);
}

}  // namespace
}  // namespace heddle::protocols
