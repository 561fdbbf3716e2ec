#include "base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heddle/status.h>

#include <string>

namespace heddle::log {
namespace {

template <class Work>
std::string stderr_of(Work&& work) {
  testing::internal::CaptureStderr();
  work();
  return testing::internal::GetCapturedStderr();
}

TEST(Log, LinesStartWithTheRankAndTheLevel) {
  open("info", 3);
  EXPECT_EQ(stderr_of([] { info("{} routes", 2); }), "heddle[3]: info: 2 routes\n");
}

TEST(Log, LinesBelowTheLevelAreNotWritten) {
  open("warn", 0);
  EXPECT_EQ(stderr_of([] { info("hidden"); }), "");
  EXPECT_FALSE(enabled(level::info));
  EXPECT_TRUE(enabled(level::warn));
}

TEST(Log, OffSilencesErrorsToo) {
  open("off", 0);
  EXPECT_EQ(stderr_of([] { error("hidden"); }), "");
}

TEST(Log, BracesInATextAreLeftAlone) {
  open("warn", -1);
  EXPECT_EQ(stderr_of([] { write(level::warn, "{} %v"); }), "heddle: warning: {} %v\n");
}

TEST(Log, AnUnknownLevelIsRefusedAndTheOldOneStays) {
  open("error", 0);
  EXPECT_THROW(open("loud", 0), heddle::error);
  EXPECT_TRUE(enabled(level::error));
  EXPECT_FALSE(enabled(level::warn));
}

}  // namespace
}  // namespace heddle::log
