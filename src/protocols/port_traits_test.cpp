// port_traits_test.cpp - what a wire does not do by itself goes by messages.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

#include "support/port_fixture.h"

namespace heddle::protocols {
namespace {

using transport::only;
using transport::op_kind;

/// A wire that does all kinds, as far as a test does not say otherwise.
class PortTraits : public PortFixture {
 protected:
  PortTraits() {
    wire_.native =
        only(op_kind::send) | only(op_kind::put) | only(op_kind::get) | only(op_kind::atomic);
    wire_.answer = status::posted;
    target_.owner = 1;
    target_.ref = {1, 1};
    target_.bytes = memory_.size();
    target_.allowed = rights::all;
  }
  status execute(command_kind kind, std::size_t bytes, std::uint8_t width = 8) {
    port& p = start();
    command c;
    c.kind = kind;
    c.peer = 1;
    c.target = &target_;
    c.memory = std::span(memory_).first(bytes);
    c.width = width;
    const status s = p.execute(c, batch_);
    p.abort(status::closed, batch_);
    batch_.run();
    return s;
  }
  [[nodiscard]] op_kind last() const { return wire_.posted.back().kind; }

  std::vector<std::byte> memory_ = std::vector<std::byte>(3000);
  const std::shared_ptr<memory::imported_memory> imported_ =
      std::make_shared<memory::imported_memory>();
  memory::remote_memory target_{imported_};
};

TEST_F(PortTraits, AnAtomicThatTheWireDoesGoesToIt) {
  wire_.atomics = transport::atomic_set::none().with(atomic_op::add, 8);
  EXPECT_EQ(execute(command_kind::atomic, 8), status::posted);
  EXPECT_EQ(last(), op_kind::atomic);
}

TEST_F(PortTraits, AnAtomicOfAWidthThatTheWireDoesNotDoGoesByMessage) {
  wire_.atomics = transport::atomic_set::none().with(atomic_op::add, 8);
  EXPECT_EQ(execute(command_kind::atomic, 4, 4), status::posted);
  EXPECT_EQ(last(), op_kind::send);
}

TEST_F(PortTraits, AtomicsThatTheCpuDoesNotSeeGoByMessageUnlessTheWireDoesAll) {
  wire_.cpu_atomics = false;
  wire_.atomics = transport::atomic_set::none().with(atomic_op::add, 8);
  EXPECT_EQ(execute(command_kind::atomic, 8), status::posted);
  EXPECT_EQ(last(), op_kind::send);
  wire_.atomics = transport::atomic_set::all();
  EXPECT_EQ(execute(command_kind::atomic, 8), status::posted);
  EXPECT_EQ(last(), op_kind::atomic);
}

TEST_F(PortTraits, WithoutAWayToTheNetworkThatDoesThemAtomicsAreUnsupported) {
  atomic_route_.fill(no_route);
  EXPECT_EQ(execute(command_kind::atomic, 8), status::unsupported);
  EXPECT_EQ(execute(command_kind::put, 8), status::posted);
}

TEST_F(PortTraits, WhatIsLongerThanOneOpOfTheWireGoesByMessages) {
  wire_.max_op = 2000;
  for (const command_kind kind : {command_kind::put, command_kind::get}) {
    EXPECT_EQ(execute(kind, 2000), status::posted);
    EXPECT_NE(last(), op_kind::send);
    EXPECT_EQ(execute(kind, 2001), status::posted);
    EXPECT_EQ(last(), op_kind::send);
  }
}

TEST_F(PortTraits, PutsThatEndBeforeTheyArriveGoByMessage) {
  wire_.ends_remotely = false;
  EXPECT_EQ(execute(command_kind::put, 8), status::posted);
  EXPECT_EQ(last(), op_kind::send);
}

}  // namespace
}  // namespace heddle::protocols
