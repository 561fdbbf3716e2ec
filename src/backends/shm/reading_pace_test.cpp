// SPDX-License-Identifier: BSD-3-Clause
// reading_pace_test.cpp - when looks for messages are kept apart, by a clock of the test's own.
#include "backends/shm/reading_pace.h"

#include <gtest/gtest.h>

namespace heddle::transport::shm {
namespace {

constexpr std::uint64_t step_ns = 100;
std::uint64_t time_now = 0;

/// Each reading takes a while.
std::uint64_t test_clock() noexcept {
  return time_now += step_ns;
}

struct ReadingPace : testing::Test {
  using pace_type = reading_pace<test_clock>;
  ReadingPace() { time_now = step_ns; }
  /// So many looks that find `messages` each, every one behind `empty` that find nothing.
  void look(int times, std::size_t messages, int empty = 0) {
    for (int i = 0; i < times; ++i) {
      for (int e = 0; e < empty; ++e) pace.wait();
      pace.wait();
      pace.found(messages);
    }
  }
  /// How long the next look is put off.
  std::uint64_t put_off() {
    const std::uint64_t before = time_now;
    pace.wait();
    return time_now - before;
  }

  pace_type pace;
};

TEST_F(ReadingPace, DoesNotReadTheClockForFewMessages) {
  look(pace_type::looks_of_stream - 1, 1);
  EXPECT_EQ(put_off(), 0u);
}

TEST_F(ReadingPace, DoesNotReadTheClockForAnswersThatTakeAWhile) {
  look(10 * pace_type::looks_of_stream, 1, 3);
  EXPECT_EQ(put_off(), 0u);
}

TEST_F(ReadingPace, KeepsTheLooksOfAStreamApart) {
  look(pace_type::looks_of_stream, 1, 1);
  EXPECT_GE(put_off(), pace_type::apart_ns - step_ns);
}

TEST_F(ReadingPace, CountsWhatIsDoneBetweenTwoLooks) {
  look(pace_type::looks_of_stream, 1);
  time_now += pace_type::apart_ns;
  EXPECT_EQ(put_off(), step_ns);  // one look at the clock
}

TEST_F(ReadingPace, LooksAtOnceBehindManyMessages) {
  look(pace_type::looks_of_stream, pace_type::many);
  EXPECT_EQ(put_off(), 0u);
  pace.found(1);
  EXPECT_GT(put_off(), 0u);
}

TEST_F(ReadingPace, KeepsTheLooksOfALongStreamFurtherApart) {
  look(pace_type::looks_of_long_stream, pace_type::many_of_long_stream - 1);
  EXPECT_GE(put_off(), pace_type::apart_in_long_stream_ns - step_ns);
  pace.end();
  look(pace_type::looks_of_stream, 1);
  EXPECT_LT(put_off(), pace_type::apart_in_long_stream_ns - step_ns);
}

TEST_F(ReadingPace, LooksAtOnceBehindAnAnswer) {
  look(pace_type::looks_of_stream, 1);
  pace.end();
  EXPECT_EQ(put_off(), 0u);
  look(pace_type::looks_of_stream - 1, 1);
  EXPECT_EQ(put_off(), 0u);
}

TEST_F(ReadingPace, IsAskedUntilTheStreamHasEnded) {
  look(pace_type::looks_of_stream, 1);
  EXPECT_TRUE(pace.wait());
  EXPECT_TRUE(pace.wait());
  EXPECT_FALSE(pace.wait());
  look(pace_type::looks_of_stream - 1, 1);
  EXPECT_EQ(put_off(), 0u);
}

}  // namespace
}  // namespace heddle::transport::shm
