// SPDX-License-Identifier: BSD-3-Clause
#include "base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heddle/status.h>

#include <string>
#include <thread>
#include <vector>

#include "support/made_text.h"

namespace heddle::log {
namespace {

using enum subsystem;

template <class Work>
std::string stderr_of(Work&& work) {
  testing::internal::CaptureStderr();
  work();
  return testing::internal::GetCapturedStderr();
}

TEST(Log, LinesStartWithTheRankTheLevelAndTheSubsystem) {
  open("info", 3);
  EXPECT_EQ(stderr_of([] { info(wire, "{} routes", 2); }), "heddle[3]: info: wire: 2 routes\n");
}

TEST(Log, LinesBelowTheLevelAreNotWritten) {
  open("warn", 0);
  EXPECT_EQ(stderr_of([] { info(job, "hidden"); }), "");
  EXPECT_FALSE(enabled(job, level::info));
  EXPECT_TRUE(enabled(job, level::warn));
}

TEST(Log, OffSilencesErrorsToo) {
  open("off", 0);
  EXPECT_EQ(stderr_of([] { error(peer, "hidden"); }), "");
}

TEST(Log, BracesInATextAreLeftAlone) {
  open("warn", -1);
  EXPECT_EQ(stderr_of([] { write(memory, level::warn, "{} %v"); }),
            "heddle: warning: memory: {} %v\n");
}

TEST(Log, AnUnknownLevelIsRefusedAndTheOldOneStays) {
  open("error", 0);
  EXPECT_THROW(open("loud", 0), heddle::error);
  EXPECT_TRUE(enabled(job, level::error));
  EXPECT_FALSE(enabled(job, level::warn));
}

TEST(Log, ASubsystemHasALevelOfItsOwn) {
  open("wire=debug,peer=off", 0);
  EXPECT_TRUE(enabled(wire, level::debug));
  EXPECT_FALSE(enabled(peer, level::error));
  EXPECT_TRUE(enabled(job, level::warn));
  EXPECT_FALSE(enabled(job, level::info));
}

TEST(Log, OfSeveralLevelsTheLaterOneWins) {
  open("info,wire=error", 0);
  EXPECT_TRUE(enabled(job, level::info));
  EXPECT_FALSE(enabled(wire, level::warn));
  open("wire=error,info", 0);
  EXPECT_TRUE(enabled(wire, level::info));
}

TEST(Log, WhatIsNoLevelOrSubsystemIsNone) {
  for (const char* text :
       {"", "loud", "wires=debug", "wire=", "wire=loud", "info,", ",info", "=info"})
    EXPECT_FALSE(parse_levels(text)) << text;
}

TEST(Log, WhatIsNotWantedIsNotFormatted) {
  struct counted {
    int* times;
  };
  open("warn", 0);
  int formatted = 0;
  const auto text = [&] {
    ++formatted;
    return "text";
  };
  if (enabled(job, level::info)) info(job, "{}", text());
  EXPECT_EQ(formatted, 0);
}

struct heard {
  std::vector<std::string> lines;
  static void hear(void* self, log_level severity, std::string_view about,
                   std::string_view line) noexcept {
    static_cast<heard*>(self)->lines.push_back(std::to_string(static_cast<int>(severity)) + " " +
                                               std::string(about) + " " + std::string(line));
  }
};

TEST(LogHandler, GetsLinesInsteadOfStandardError) {
  open("info", 0);
  heard by;
  set_log_handler(&heard::hear, &by);
  EXPECT_EQ(stderr_of([] {
              warn(peer, "rank {} is lost", 4);
              debug(peer, "hidden");
            }),
            "");
  set_log_handler(nullptr);
  EXPECT_EQ(by.lines, std::vector<std::string>{"2 peer rank 4 is lost"});
  EXPECT_NE(stderr_of([] { warn(peer, "again"); }), "");
}

TEST(Log, LinesOfSeveralThreadsDoNotMix) {
  open("info", 0);
  const std::string text = stderr_of([] {
    std::vector<std::thread> all;
    for (int t = 0; t < 4; ++t)
      all.emplace_back([] {
        for (int i = 0; i < 200; ++i) info(job, "{}", std::string(100, 'x'));
      });
    for (auto& t : all) t.join();
  });
  const std::string line = "heddle[0]: info: job: " + std::string(100, 'x') + "\n";
  ASSERT_EQ(text.size(), 800 * line.size());
  for (std::size_t at = 0; at < text.size(); at += line.size())
    ASSERT_EQ(text.substr(at, line.size()), line);
}

TEST(Log, ItsSubsystemsAreInTheGuide) {
  std::string made = "| subsystem | tells of |\n|---|---|\n";
  for (const subsystem_row& row : subsystem_table())
    made += "| `" + std::string(row.name) + "` | " + std::string(row.help) + " |\n";
  test::expect_made_text(GUIDE "/observe.md", "log subsystems", made);
}

}  // namespace
}  // namespace heddle::log
