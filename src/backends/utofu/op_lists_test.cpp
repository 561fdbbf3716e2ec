// SPDX-License-Identifier: BSD-3-Clause
// op_lists_test.cpp - which ops share a list, with no hardware to post them to.
#include "backends/utofu/op_lists.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace heddle::transport::utofu {
namespace {

using strings = std::vector<std::string>;

/// A queue that has room for so many ops in all. Each op is known by its `operand`.
struct queue_of_ops {
  std::size_t room = SIZE_MAX;
  bool refuses_lists = false;
  bool listing = false;
  std::vector<std::uint64_t> list;
  strings posted;  // "1 2 3": a list
  std::vector<std::uint64_t> taken_back;

  void post(const std::vector<std::uint64_t>& numbers) {
    std::string text;
    for (const std::uint64_t n : numbers) text += (text.empty() ? "" : " ") + std::to_string(n);
    if (!text.empty()) posted.push_back(text);
    room -= numbers.size();
  }
};

struct way {
  queue_of_ops& to;

  [[nodiscard]] status start(op& o) const {
    if (o.operand == 0) return status::invalid;
    if (!to.listing && to.room == 0) return status::busy_queue;
    to.listing ? to.list.push_back(o.operand) : to.post({o.operand});
    return status::posted;
  }
  [[nodiscard]] bool goes_alone(const op& o) const { return o.kind == op_kind::get; }
  void open_list() const {
    to.listing = true;
    to.list.clear();
  }
  [[nodiscard]] status close_list() const {
    to.listing = false;
    if (to.refuses_lists && !to.list.empty()) return status::withdrawn;
    if (to.list.size() > to.room) return status::busy_queue;
    to.post(to.list);
    return status::done;
  }
  void take_back(op& o) const { to.taken_back.push_back(o.operand); }
};

struct OpLists : testing::Test {
  post_result post(std::size_t from, std::size_t to) {
    std::vector<op*> some;
    for (std::size_t i = from; i < to; ++i) some.push_back(&ops[i]);
    return lists.post(some, way{queue});
  }

  OpLists() {
    for (std::size_t i = 0; i < ops.size(); ++i) ops[i].operand = i + 1;
    for (op& o : ops) o.kind = op_kind::put;
  }
  std::vector<op> ops = std::vector<op>(100);
  queue_of_ops queue;
  op_lists lists;
};

TEST_F(OpLists, AreAsLongAsMayBe) {
  EXPECT_EQ(post(0, 80).accepted, 80u);
  ASSERT_EQ(queue.posted.size(), 3u);
  EXPECT_TRUE(queue.posted[0].ends_with(" 32"));
  EXPECT_TRUE(queue.posted[1].ends_with(" 64"));
  EXPECT_TRUE(queue.posted[2].ends_with(" 80"));
}

TEST_F(OpLists, EndBeforeWhatGoesAlone) {
  ops[2].kind = op_kind::get;
  EXPECT_EQ(post(0, 5).accepted, 5u);
  EXPECT_EQ(queue.posted, (strings{"1 2", "3", "4 5"}));
}

TEST_F(OpLists, EndBeforeAnOpThatCannotBeDoneWhichIsNamed) {
  ops[2].operand = 0;
  const post_result r = post(0, 5);
  EXPECT_EQ(r.accepted, 2u);
  EXPECT_EQ(r.reason, status::invalid);
  EXPECT_EQ(queue.posted, strings{"1 2"});
}

TEST_F(OpLists, AreTakenBackAndGetShorterWhenTheQueueIsNearlyFull) {
  queue.room = 10;
  const post_result r = post(0, 16);
  EXPECT_EQ(r.reason, status::busy_queue);
  EXPECT_EQ(r.accepted, 10u);
  ASSERT_FALSE(queue.taken_back.empty());
  EXPECT_EQ(queue.taken_back.front(), 16u) << "the last one first";
}

TEST_F(OpLists, GetLongerAgainWhenThereIsRoom) {
  queue.room = 0;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(post(0, 16).accepted, 0u);
  queue.room = SIZE_MAX;
  EXPECT_EQ(post(0, 16).accepted, 16u);
  EXPECT_EQ(queue.posted, (strings{"1", "2 3", "4 5 6 7", "8 9 10 11 12 13 14 15", "16"}));
}

TEST_F(OpLists, AreNotTriedAgainForWhatTheHardwareRefuses) {
  queue.refuses_lists = true;
  EXPECT_EQ(post(0, 2).accepted, 2u);
  EXPECT_EQ(queue.posted, (strings{"1", "2"}));
  EXPECT_EQ(queue.taken_back, (std::vector<std::uint64_t>{2, 1}));
}

}  // namespace
}  // namespace heddle::transport::utofu
