// SPDX-License-Identifier: BSD-3-Clause
#include "base/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heddle/status.h>

#include <string>

namespace heddle {
namespace {

using testing::AllOf;
using testing::HasSubstr;
std::string refusal(const environment& names) {
  try {
    (void)read_settings(names);
  } catch (const error& e) {
    return e.what();
  }
  return "accepted";
}

TEST(Settings, AnEmptyEnvironmentGivesTheDefaults) {
  const settings s = read_settings({});
  EXPECT_EQ(s.credit_bytes, 1024u * 1024);
  EXPECT_EQ(s.peer_timeout_ms, 30'000u);
}

TEST(Settings, WhatTheEnvironmentDoesNotSetStaysAsTheProgramChose) {
  settings chosen;
  chosen.progress = "dedicated";
  chosen.executors = 3;
  const settings s = read_settings({{"HEDDLE_PROGRESS", "idle"}}, chosen);
  EXPECT_EQ(s.progress, "idle");
  EXPECT_EQ(s.executors, 3u);
}

TEST(Settings, ExecutorCoresAreNearNoneOrNumbers) {
  for (const char* good : {"near", "none", "0", "2,3"})
    EXPECT_EQ(read_settings({{"HEDDLE_EXECUTOR_CORES", good}}).executor_cores, good);
  for (const char* bad : {"far", "2,", "-1", "2,near", "", "99999"})
    EXPECT_THAT(refusal({{"HEDDLE_EXECUTOR_CORES", bad}}), HasSubstr("core numbers")) << bad;
}

TEST(Settings, ValuesOfEachKindAreRead) {
  const settings s = read_settings({{"HEDDLE_BACKENDS", "tcp"},
                                    {"HEDDLE_HOST", "left"},
                                    {"HEDDLE_EAGER_BYTES", "8K"},
                                    {"HEDDLE_RECORDS", "64"},
                                    {"HEDDLE_SPIN_US", "0"}});
  EXPECT_EQ(s.backends, "tcp");
  EXPECT_EQ(s.host, "left");
  EXPECT_EQ(s.eager_bytes, 8192u);
  EXPECT_EQ(s.records, 64u);
  EXPECT_EQ(s.spin_us, 0u);
}

TEST(Settings, SpinningIsANumberOrFoundOut) {
  EXPECT_EQ(read_settings({}).spin_us, default_spin_us);
  EXPECT_EQ(read_settings({{"HEDDLE_SPIN_US", "auto"}}).spin_us, automatic);
  EXPECT_THAT(refusal({{"HEDDLE_SPIN_US", "often"}}), HasSubstr("auto, or a whole number"));
}

TEST(Settings, ABadChoiceIsRefusedWithWhatIsAccepted) {
  EXPECT_THAT(refusal({{"HEDDLE_LOG", "loud"}}),
              AllOf(HasSubstr("HEDDLE_LOG=loud"), HasSubstr("off | error | warn | info | debug")));
}

TEST(Settings, AChoiceMustMatchWhole) {
  EXPECT_NE(refusal({{"HEDDLE_LOG", "warni"}}), "accepted");
  EXPECT_NE(refusal({{"HEDDLE_LOG", ""}}), "accepted");
  EXPECT_NE(refusal({{"HEDDLE_LOG", "off | error"}}), "accepted");
}

TEST(Settings, NumbersAreRefusedOutsideTheirRangeAndWithRubbish) {
  EXPECT_THAT(refusal({{"HEDDLE_RECORDS", "3"}}),
              AllOf(HasSubstr("HEDDLE_RECORDS=3"), HasSubstr("from 16 to 1048576")));
  for (const char* bad : {"", "-1", "1e9", "64 ", "0x40", "99999999999999999999"})
    EXPECT_NE(refusal({{"HEDDLE_RECORDS", bad}}), "accepted") << bad;
}

TEST(Settings, SizesAreRefusedOutsideTheirRange) {
  EXPECT_THAT(refusal({{"HEDDLE_CREDIT_BYTES", "1K"}}), HasSubstr("from 4K to 64G"));
}

TEST(Settings, AListWithAnEmptyNameIsRefused) {
  for (const char* bad : {"", ",", "shm,", "shm,,tcp", "shm, tcp"})
    EXPECT_NE(refusal({{"HEDDLE_BACKENDS", bad}}), "accepted") << bad;
}

TEST(Settings, WhatIsNotTheCoresIsKeptForWhoeverItBelongsTo) {
  constexpr setting size = bytes_setting("HEDDLE_X_SIZE", "2K", "of something", 1 * kib, 1 * mib);
  EXPECT_EQ(number_of(size, read_settings({})), 2048u);
  EXPECT_EQ(number_of(size, read_settings({{"HEDDLE_X_SIZE", "1M"}})), mib);
  const settings wrong = read_settings({{"HEDDLE_X_SIZE", "2M"}});
  try {
    (void)number_of(size, wrong);
    FAIL() << "accepted";
  } catch (const error& e) {
    EXPECT_THAT(e.what(), AllOf(HasSubstr("HEDDLE_X_SIZE=2M"), HasSubstr("from 1K to 1M")));
  }
}

TEST(Settings, ASizeIsBytesWithAnOptionalPowerOf1024) {
  EXPECT_EQ(parse_bytes("0"), 0u);
  EXPECT_EQ(parse_bytes("1000"), 1000u);
  EXPECT_EQ(parse_bytes("1K"), 1024u);
  EXPECT_EQ(parse_bytes("128k"), 131072u);
  EXPECT_EQ(parse_bytes("4M"), 4194304u);
  EXPECT_EQ(parse_bytes("1g"), 1073741824u);
  EXPECT_EQ(parse_bytes("17179869183G"), 17179869183u * (std::uint64_t{1} << 30));
}

TEST(Settings, WhatIsNoSizeIsRefused) {
  for (const char* bad : {"", "K", "-1", "1.5M", "1KB", "1 K", "17179869184G", "1T"})
    EXPECT_THROW((void)parse_bytes(bad), error) << bad;
}

}  // namespace
}  // namespace heddle
