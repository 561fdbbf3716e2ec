// SPDX-License-Identifier: BSD-3-Clause
// result_file_test.cpp - what can not be written is told with its cause, and nothing is left
// behind.
#include "harness/result_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

namespace heddle::bench {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string complaint_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::runtime_error& why) {
    return why.what();
  }
  return {};
}

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
  EXPECT_THAT(complaint_of([] { check_writable("/nonexistent/x.json", "--json FILE"); }),
              AllOf(HasSubstr("'/nonexistent/x.json'"), HasSubstr("No such file or directory"),
                    HasSubstr("--json FILE")));
}

TEST(ResultFile, AFullDiskIsTold) {
  EXPECT_THAT(complaint_of([] { write_file("/dev/full", "text"); }),
              HasSubstr("No space left on device"));
}

}  // namespace
}  // namespace heddle::bench
