// SPDX-License-Identifier: BSD-3-Clause
// completion_test.cpp - the adapters by themselves; with an engine:
// tests/stress/visibility_test.cpp.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <heddle/completion.h>
#include <poll.h>

#include <array>
#include <atomic>
#include <exception>
#include <string>
#include <thread>

#include "protocols/delivery.h"
#include "support/resource_limits.h"
#include "support/scale.h"

namespace heddle {
namespace {

bool readable(const event_descriptor& d) {
  pollfd watched{.fd = d.fd(), .events = POLLIN, .revents = 0};
  return ::poll(&watched, 1, 0) == 1;
}

void end_one(const completion& c, status code = status::done) {
  c({.code = code});
}

TEST(EventDescriptor, IsReadableWhileThereAreEndingsToTake) {
  event_descriptor d;
  EXPECT_FALSE(readable(d));
  EXPECT_EQ(d.take(), 0u);  // does not block
  end_one(d);
  end_one(d);
  EXPECT_TRUE(readable(d));
  EXPECT_EQ(d.take(), 2u);
  EXPECT_FALSE(readable(d));
  EXPECT_EQ(d.take(), 0u);
}

TEST(EventDescriptor, CountsFailuresAndKeepsTheFirst) {
  event_descriptor d;
  end_one(d);
  EXPECT_EQ(d.take(), 1u);
  EXPECT_EQ(d.first_failure(), status::done);
  end_one(d, status::peer_lost);
  end_one(d, status::canceled);
  EXPECT_EQ(d.take(), 2u);
  EXPECT_EQ(d.first_failure(), status::peer_lost);
}

TEST(EventDescriptor, NeitherBlocksNorOutlivesAnExec) {
  const event_descriptor d;
  EXPECT_NE(fcntl(d.fd(), F_GETFL) & O_NONBLOCK, 0);
  EXPECT_NE(fcntl(d.fd(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(EventDescriptor, EachEndingIsTakenOnceByOneOfSeveralThreads) {
  constexpr std::uint64_t endings = 20'000;
  event_descriptor d;
  std::atomic<std::uint64_t> taken = 0;
  std::array<std::thread, 2> takers;
  for (std::thread& t : takers)
    t = std::thread([&] {
      while (taken.load() < endings) taken.fetch_add(d.take());
    });
  for (std::uint64_t i = 0; i < endings; ++i) end_one(d);
  for (std::thread& t : takers) t.join();
  EXPECT_EQ(taken.load(), endings);
  EXPECT_EQ(d.take(), 0u);
}

TEST(EventDescriptor, WithoutADescriptorLeftSaysSoAndWhatToDo) {
  if (test::sanitized) GTEST_SKIP() << "the sanitizers need descriptors for their own checks";
  std::exception_ptr refused;
  try {
    const test::no_descriptors left;
    const event_descriptor d;
  } catch (const error&) {
    refused = std::current_exception();
  }
  ASSERT_NE(refused, nullptr);
  try {
    std::rethrow_exception(refused);
  } catch (const error& e) {
    EXPECT_NE(std::string(e.what()).find("ulimit -n"), std::string::npos) << e.what();
  }
}

class Awaited : public testing::Test {
 protected:
  static constexpr outcome failed{.code = status::denied};
  flag raised_;
  const completion by_this_thread_ = detail::awaited::by(raised_);
};

TEST_F(Awaited, EndsWhereItsOwnThreadFindsItsEnd) {
  EXPECT_TRUE(
      detail::awaited::end_here(by_this_thread_, &protocols::delivery_batch::mine(), failed));
  EXPECT_TRUE(raised_.ready());
  EXPECT_EQ(raised_.result().code, status::denied);
}

TEST_F(Awaited, IsLeftToTheBatchWhereAnotherThreadFindsItsEnd) {
  const protocols::delivery_batch another;
  EXPECT_FALSE(detail::awaited::end_here(by_this_thread_, &another, failed));
  EXPECT_FALSE(raised_.ready());
}

TEST_F(Awaited, IsNotAFlagThatTheProgramHasPosted) {
  EXPECT_EQ(detail::awaited::in(raised_), nullptr);
  EXPECT_FALSE(detail::awaited::end_here(raised_, &protocols::delivery_batch::mine(), failed));
}

// The wake that a raise is then would be missed.
TEST(Signal, IsNotRaisedPastAThreadThatIsAboutToSleepOnIt) {
  constexpr std::uint16_t waker = 3;
  detail::signal s;
  (void)s.watch(waker, 1);
  EXPECT_FALSE(s.raise_alone());
  EXPECT_EQ(s.count(), 0u);
  s.unwatch(waker);
  EXPECT_TRUE(s.raise_alone());
  EXPECT_EQ(s.count(), 1u);
}

}  // namespace
}  // namespace heddle
