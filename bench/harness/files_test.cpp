// SPDX-License-Identifier: BSD-3-Clause
// files_test.cpp - what can not be written is told with its cause, and nothing is left behind;
// folders that are used stay, others go.
#include "harness/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>

namespace heddle::bench {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(ResultFile, CheckingLeavesNothingBehindAndKeepsWhatIsThere) {
  const std::string path = testing::TempDir() + "/result-" + std::to_string(getpid());
  check_writable("", "--json");
  check_writable(path, "--json");
  EXPECT_FALSE(std::filesystem::exists(path));
  write_file(path, "old\n");
  check_writable(path, "--json");
  std::ifstream file(path);
  EXPECT_EQ((std::string{std::istreambuf_iterator<char>(file), {}}), "old\n");
  std::filesystem::remove(path);
}

TEST(ResultFile, APathThatCannotBeNamesCauseAndCure) {
  EXPECT_THAT([] { check_writable("/nonexistent/x.json", "--json FILE"); },
              ThrowsMessage<std::runtime_error>(AllOf(HasSubstr("'/nonexistent/x.json'"),
                                                      HasSubstr("No such file or directory"),
                                                      HasSubstr("--json FILE"))));
  EXPECT_THAT([] { write_file("/dev/full", "text"); },
              ThrowsMessage<std::runtime_error>(HasSubstr("No space left on device")));
}

bool is_there(const std::string& path) {
  return std::filesystem::exists(path);
}

TEST(ScratchFolder, StaysWhileItIsUsedAndIsGoneWithAllThatIsInIt) {
  const scratch_folder first;
  std::string path;
  {
    const scratch_folder second;
    path = second.path();
    EXPECT_NE(first.path(), path);
    std::ofstream(path + "/file") << "text";
    EXPECT_TRUE(is_there(path + "/file"));
  }
  EXPECT_FALSE(is_there(path));
  EXPECT_TRUE(is_there(first.path()));
}

TEST(ScratchFolder, OfAProcessThatWasKilledIsRemovedByTheNext) {
  const scratch_folder first;
  const std::string left = first.path().substr(0, first.path().size() - 6) + "KILLED";
  std::filesystem::create_directories(left + "/inside");
  const scratch_folder second;
  // Somebody else's sweep may have it just now.
  for (int i = 0; i < 500 && is_there(left); ++i) std::this_thread::sleep_for(20ms);
  EXPECT_FALSE(is_there(left));
}

}  // namespace
}  // namespace heddle::bench
