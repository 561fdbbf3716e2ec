// SPDX-License-Identifier: BSD-3-Clause
// result_file_test.cpp - what can not be written is told with its cause, and nothing is left
// behind.
#include "harness/result_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace heddle::bench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::string some_path() {
  return testing::TempDir() + "/result-" + std::to_string(getpid());
}

TEST(ResultFile, CheckingLeavesNothingBehind) {
  const std::string path = some_path();
  check_writable(path, "--json");
  EXPECT_FALSE(std::filesystem::exists(path));
  check_writable("", "--json");
}

TEST(ResultFile, CheckingKeepsWhatIsThere) {
  const std::string path = some_path();
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
}

TEST(ResultFile, AFullDiskIsTold) {
  EXPECT_THAT([] { write_file("/dev/full", "text"); },
              ThrowsMessage<std::runtime_error>(HasSubstr("No space left on device")));
}

}  // namespace
}  // namespace heddle::bench
