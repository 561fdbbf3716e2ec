// SPDX-License-Identifier: BSD-3-Clause
// post_batch_test.cpp - which requests go to the wire together, and what becomes of refused ones.
#include "protocols/post_batch.h"

#include <gtest/gtest.h>

#include <array>
#include <utility>
#include <vector>

#include "backends/faults/scripted_endpoint.h"
#include "support/lone_path.h"

namespace heddle::protocols {
namespace {

using transport::script;
using transport::scripted_endpoint;

/// Two peers on one wire, one on another, and an owner that blocks the peer of what is refused.
class PostBatch : public testing::Test, protected post_batch::refusals {
 protected:
  /// Notes which of its requests ended.
  struct noting final : protocol {
    using protocol::protocol;
    void ended(request& r, status code) override { ends.emplace_back(&r, code); }
    std::vector<std::pair<request*, status>> ends;
  };
  PostBatch() {
    join(first_, 1, endpoint_, wire_);
    join(second_, 2, endpoint_, wire_);
    join(elsewhere_, 3, other_endpoint_, other_wire_);
    wire_.answer = other_wire_.answer = status::posted;
    batch_.begin();
  }
  static void join(peer& p, rank number, scripted_endpoint& by, script& wire) {
    p.number = number;
    p.wire = {&by, wire.reach(number)};
  }
  void refused(request& r, status reason) override {
    refused_.emplace_back(&r, reason);
    r.with->blocked = true;
  }
  request& add(peer& p) {
    request& r = made_.at(used_++);
    r.with = &p;
    r.to = p.wire.to;
    r.kind = transport::op_kind::put;
    r.owner = &owner_;
    batch_.add(r);
    return r;
  }

  script wire_, other_wire_;
  scripted_endpoint endpoint_{wire_}, other_endpoint_{other_wire_};
  peer first_, second_, elsewhere_;
  test::lone_path lone_{64};
  noting owner_{lone_.path};
  std::array<request, 40> made_;
  std::size_t used_ = 0;
  std::vector<std::pair<request*, status>> refused_;
  post_batch batch_{*this, lone_.counters};
};

TEST_F(PostBatch, GoesToTheWireAtItsEndInOnePostForBothPeersOfAWire) {
  add(first_);
  add(second_);
  add(first_);
  EXPECT_TRUE(wire_.posted.empty());
  batch_.end();
  EXPECT_EQ(wire_.posted.size(), 3u);
  EXPECT_EQ(lone_.counters.posts_together.get(), 1u);
  EXPECT_EQ(lone_.counters.posted_together.get(), 3u);
  EXPECT_FALSE(batch_.takes());
}

TEST_F(PostBatch, IsPostedBeforeItsEndWhenItIsFull) {
  for (int i = 0; i < 33; ++i) add(first_);
  EXPECT_EQ(wire_.posted.size(), 32u);
  batch_.end();
  EXPECT_EQ(wire_.posted.size(), 33u);
}

TEST_F(PostBatch, IsPartedWhereAnotherWireComesBetween) {
  add(first_);
  add(elsewhere_);
  add(first_);
  batch_.end();
  EXPECT_EQ(wire_.posted.size(), 2u);
  EXPECT_EQ(other_wire_.posted.size(), 1u);
  EXPECT_EQ(lone_.counters.posts_together.get(), 0u) << "each went alone";
}

TEST_F(PostBatch, KeepsTheOrderOfAPeerThatWasRefused) {
  wire_.room = 1;
  add(first_);
  request& no_room = add(first_);
  request& behind = add(first_);
  add(elsewhere_);
  batch_.end();
  const std::vector<std::pair<request*, status>> expected{{&no_room, status::busy_queue},
                                                          {&behind, status::busy_queue}};
  EXPECT_EQ(refused_, expected);
  EXPECT_EQ(other_wire_.posted.size(), 1u) << "the other wire has room";
}

TEST_F(PostBatch, TellsWhatIsOverInThePostItself) {
  wire_.answer = status::done;
  request& first = add(first_);
  request& second = add(first_);
  batch_.end();
  const std::vector<std::pair<request*, status>> expected{{&first, status::done},
                                                          {&second, status::done}};
  EXPECT_EQ(owner_.ends, expected);
}

TEST_F(PostBatch, KeepsNothingBackFromAWireThatCopiesButBehindWhatLiesInIt) {
  first_.copies_in_post = true;
  EXPECT_FALSE(batch_.keeps_back(first_));
  EXPECT_TRUE(batch_.keeps_back(second_));
  add(second_);
  EXPECT_TRUE(batch_.keeps_back(first_)) << "or it would pass what was accepted before it";
  batch_.end();
  EXPECT_FALSE(batch_.keeps_back(second_));
}

}  // namespace
}  // namespace heddle::protocols
