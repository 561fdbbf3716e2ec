// SPDX-License-Identifier: BSD-3-Clause
// port_delivery_test.cpp - large messages over a wire that cannot read, but receives into memory
// that was posted to it.
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

#include "support/message_port_fixture.h"

namespace heddle::protocols {
namespace {

using transport::only;
using transport::op_kind;

class PortDelivery : public Port {
 protected:
  PortDelivery() {
    wire_.native = only(op_kind::send) | only(op_kind::receive) | only(op_kind::deliver);
    wire_.answer = status::posted;
  }
  void announce(std::uint32_t generation = 0) {
    message m;
    m.kind = message_kind::tag_rts;
    m.word = large_tag;
    m.generation = generation;
    m.bytes = large;
    m.id = 77;
    arrives(m);
  }
  [[nodiscard]] message last_message() const {
    message parsed;
    EXPECT_TRUE(parse_message(wire_.messages.back(), parsed));
    return parsed;
  }
  void clears_to_send(const message& rts, std::uint64_t bytes, std::uint64_t number = 5) {
    message m;
    m.kind = message_kind::cts;
    m.word = rts.id;
    m.id = number;
    m.bytes = bytes;
    arrives(m);
  }
  /// All that the wire has ends so.
  void ends(status code) {
    for (transport::op* each : std::exchange(wire_.under_way, {}))
      wire_.events.push_back({transport::event::kind_t::ended, code, each->to, each, {}});
    progress();
  }
};

TEST_F(PortDelivery, ALargeMessageIsAnnouncedWithoutAPlaceToReadItFrom) {
  start();
  std::vector<std::byte> data(large);
  ASSERT_EQ(port_->dispatch().execute(send(data), batch_), status::posted);
  EXPECT_EQ(last_message().kind, message_kind::tag_rts);
  EXPECT_EQ(last_message().generation, 0u);
  EXPECT_EQ(last_message().bytes, large);
}

TEST_F(PortDelivery, IsLentWhereTheWireReads) {
  wire_.native |= only(op_kind::get);
  start();
  std::vector<std::byte> data(large);
  ASSERT_EQ(port_->dispatch().execute(send(data), batch_), status::posted);
  EXPECT_NE(last_message().generation, 0u);
}

TEST_F(PortDelivery, ReceivesBeforeItSaysSo) {
  start();
  test::ending end;
  ASSERT_EQ(port_->dispatch().execute(receive_large(end), batch_), status::posted);
  announce();
  ASSERT_EQ(wire_.under_way.size(), 1u);
  const transport::op& posted = *wire_.under_way[0];
  EXPECT_EQ(posted.kind, op_kind::receive);
  EXPECT_EQ(posted.memory.data(), into_.data());
  EXPECT_EQ(last_message().kind, message_kind::cts);
  EXPECT_EQ(last_message().word, 77u);
  EXPECT_EQ(last_message().id, posted.operand);
  EXPECT_EQ(last_message().bytes, large);
  EXPECT_EQ(end.count, 0);
  const std::size_t messages = wire_.messages.size();
  ends(status::done);
  EXPECT_EQ(end.count, 1);
  EXPECT_EQ(end.code, status::done);
  EXPECT_EQ(wire_.messages.size(), messages) << "the sender knows by its own end";
}

TEST_F(PortDelivery, SaysNothingWhileTheWireHasNoRoomForTheReceive) {
  start();
  ASSERT_EQ(port_->dispatch().execute(receive_large(), batch_), status::posted);
  wire_.room = 0;
  announce();
  EXPECT_TRUE(wire_.messages.empty());
  wire_.room = SIZE_MAX;
  progress();
  ASSERT_EQ(wire_.messages.size(), 1u);
  EXPECT_EQ(last_message().kind, message_kind::cts);
}

TEST_F(PortDelivery, AsksForNoMoreThanThereIsRoomFor) {
  start();
  into_.resize(large / 2);
  test::ending end;
  ASSERT_EQ(port_->dispatch().execute(receive_large(end), batch_), status::posted);
  announce();
  EXPECT_EQ(last_message().bytes, large / 2);
  ends(status::done);
  EXPECT_EQ(end.code, status::truncated);
}

TEST_F(PortDelivery, DeliversWhatIsAskedFor) {
  start();
  std::vector<std::byte> data(large);
  test::ending end;
  ASSERT_EQ(port_->dispatch().execute(send(data, end), batch_), status::posted);
  clears_to_send(last_message(), large / 2);
  ASSERT_EQ(wire_.under_way.size(), 1u);
  const transport::op& posted = *wire_.under_way[0];
  EXPECT_EQ(posted.kind, op_kind::deliver);
  EXPECT_EQ(posted.operand, 5u);
  EXPECT_EQ(posted.memory.data(), data.data());
  EXPECT_EQ(posted.memory.size(), large / 2);
  EXPECT_EQ(end.count, 0);
  ends(status::done);
  EXPECT_EQ(end.count, 1);
  EXPECT_EQ(end.code, status::done);
}

TEST_F(PortDelivery, DeliversWhenThereIsRoomForIt) {
  start();
  std::vector<std::byte> data(large);
  ASSERT_EQ(port_->dispatch().execute(send(data), batch_), status::posted);
  const message rts = last_message();
  wire_.room = 0;
  clears_to_send(rts, large);
  EXPECT_TRUE(wire_.under_way.empty());
  wire_.room = SIZE_MAX;
  progress();
  EXPECT_EQ(wire_.under_way.size(), 1u);
}

TEST_F(PortDelivery, DeliversOnceHoweverOftenItIsAsked) {
  start();
  std::vector<std::byte> data(large);
  ASSERT_EQ(port_->dispatch().execute(send(data), batch_), status::posted);
  const message rts = last_message();
  clears_to_send(rts, large);
  clears_to_send(rts, large, 6);
  EXPECT_EQ(wire_.under_way.size(), 1u);
  EXPECT_TRUE(wire_.dropped.empty());
}

TEST_F(PortDelivery, LosesAPeerThatAsksForMoreThanThereIs) {
  start();
  std::vector<std::byte> data(large);
  test::ending end;
  ASSERT_EQ(port_->dispatch().execute(send(data, end), batch_), status::posted);
  clears_to_send(last_message(), large + 1);
  EXPECT_EQ(end.code, status::peer_lost);
  EXPECT_FALSE(wire_.dropped.empty());
}

TEST_F(PortDelivery, LosesAPeerThatDeliversOverAWireThatCannot) {
  wire_.native = only(op_kind::send) | only(op_kind::get);
  start();
  test::ending end;
  ASSERT_EQ(port_->dispatch().execute(receive_large(end), batch_), status::posted);
  announce();
  EXPECT_EQ(end.code, status::peer_lost);
}

TEST_F(PortDelivery, EndsWithThePeer) {
  start();
  std::vector<std::byte> data(large);
  test::ending sent, received;
  ASSERT_EQ(port_->dispatch().execute(send(data, sent), batch_), status::posted);
  clears_to_send(last_message(), large);
  ASSERT_EQ(port_->dispatch().execute(receive_large(received), batch_), status::posted);
  announce();
  ends(status::peer_lost);
  EXPECT_EQ(sent.code, status::peer_lost);
  EXPECT_EQ(received.code, status::peer_lost);
}

}  // namespace
}  // namespace heddle::protocols
