// SPDX-License-Identifier: BSD-3-Clause
// announcements_test.cpp - reading a board, with a board of this process.
#include "backends/shm/announcements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace heddle::transport::shm {
namespace {

struct Announcements : testing::Test {
  void announce(rank from) { ASSERT_TRUE(board->append(packed({from, 0, 7}))); }
  /// Reads once, and says whom it was asked to accept.
  std::vector<rank> read(bool accepted) {
    std::vector<rank> asked;
    rings.read([&](const announcements::announcement& a) {
      asked.push_back(a.ring.from);
      return accepted;
    });
    return asked;
  }
  std::vector<rank> try_again(bool accepted) {
    std::vector<rank> asked;
    rings.try_again([&](const announcements::announcement& a) {
      asked.push_back(a.ring.from);
      return accepted;
    });
    return asked;
  }

  std::unique_ptr<sync::board<most_senders>> board = std::make_unique<sync::board<most_senders>>();
  announcements rings{*board};
};

TEST_F(Announcements, AreReadOnceAndInOrder) {
  EXPECT_FALSE(rings.have_news());
  announce(3);
  announce(1);
  EXPECT_TRUE(rings.have_news());
  EXPECT_THAT(read(true), testing::ElementsAre(3, 1));
  EXPECT_FALSE(rings.have_news());
  EXPECT_THAT(read(true), testing::IsEmpty());
}

TEST_F(Announcements, WaitUntilTheyAreAccepted) {
  announce(3);
  EXPECT_THAT(read(false), testing::ElementsAre(3));
  EXPECT_FALSE(rings.have_news());
  EXPECT_TRUE(rings.some_wait());
  EXPECT_THAT(try_again(false), testing::ElementsAre(3));
  EXPECT_TRUE(rings.some_wait());
  EXPECT_THAT(try_again(true), testing::ElementsAre(3));
  EXPECT_FALSE(rings.some_wait());
}

TEST_F(Announcements, AreTriedAgainInSomeReadsAndNotInEach) {
  announce(3);
  ASSERT_THAT(read(false), testing::SizeIs(1));
  std::size_t tries = 0;
  for (int i = 0; i < 640; ++i) tries += read(false).size();
  EXPECT_EQ(tries, 10);
}

TEST_F(Announcements, KeepTheTimeAtWhichTheyWereRead) {
  announce(3);
  std::vector<std::uint64_t> times;
  const auto note = [&](const announcements::announcement& a) {
    times.push_back(a.since_ns);
    return false;
  };
  rings.read(note);
  rings.try_again(note);
  EXPECT_THAT(times, testing::ElementsAre(testing::Gt(0u), times.front()));
}

}  // namespace
}  // namespace heddle::transport::shm
