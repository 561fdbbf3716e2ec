// SPDX-License-Identifier: BSD-3-Clause
// programs_test.cpp - jobs of several programs, wrapped ranks and a file per rank, here and on
// hosts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "system/child.h"

namespace heddle::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Where the ranks are: options of `heddle run`.
class Programs : public testing::TestWithParam<std::vector<std::string>> {
 protected:
  static std::vector<std::string> job(std::vector<std::string> options,
                                      const std::vector<std::string>& program) {
    const auto& hosts = GetParam();
    options.insert(options.begin(), hosts.begin(), hosts.end());
    return heddle_run(options, program);
  }
};

TEST_P(Programs, SeveralMakeOneJob) {
  const auto how = run(
      job({"-n", "1"}, {BOOT_PROBE, "who", "exchange", ":", "-n", "2", "env", "EXTRA=yes",
                        BOOT_PROBE, "who", "exchange", ":", "-n", "1", BOOT_PROBE, "exchange"}));
  EXPECT_EQ(how.status, 0) << how.err;
  const auto lines = sorted_lines(how.out);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_THAT(lines[0], HasSubstr("rank 0 of 4"));
  EXPECT_THAT(lines[2], HasSubstr("rank 2 of 4"));
}

TEST_P(Programs, AFailingRankIsNamedWithItsOwnProgram) {
  const auto how = run(job({"-n", "1"}, {"sleep", "1000", ":", "-n", "1", "false"}));
  EXPECT_EQ(how.status, 1);
  EXPECT_THAT(how.err, HasSubstr("(false, process "));
}

TEST_P(Programs, OnlyChosenRanksAreWrapped) {
  const auto how = run(job({"-n", "4", "--wrap", "1-2:env 'MARK=a b'", "--wrap", "3:env MARK=c"},
                           {"sh", "-c", "echo $HEDDLE_RANK ${MARK-none}"}));
  EXPECT_THAT(sorted_lines(how.out), ElementsAre("0 none", "1 a b", "2 a b", "3 c")) << how.err;
}

TEST_P(Programs, AWrapperForNoRankIsWrongUse) {
  EXPECT_EQ(run(job({"-n", "2", "--wrap", "2:env"}, {"true"})).status, 2);
}

TEST_P(Programs, EachRankCanPrintIntoFilesOfItsOwn) {
  const std::string folder = testing::TempDir() + "/ranks-" + std::to_string(getpid());
  const auto how = run(job({"-n", "2", "--output-folder", folder},
                           {"sh", "-c", "echo out $HEDDLE_RANK; echo err $HEDDLE_RANK >&2"}));
  const auto contents = [&](const std::string& name) {
    std::ifstream in(folder + "/" + name);
    return std::string{std::istreambuf_iterator<char>(in), {}};
  };
  EXPECT_EQ(how.status, 0) << how.err;
  EXPECT_EQ(how.out, "");
  EXPECT_EQ(contents("rank-0.out"), "out 0\n");
  EXPECT_EQ(contents("rank-1.out"), "out 1\n");
  EXPECT_EQ(contents("rank-1.err"), "err 1\n");
  std::filesystem::remove_all(folder);
}

TEST_P(Programs, AFolderThatCannotBeMadeIsNamed) {
  const auto how = run(job({"-n", "2", "--output-folder", "/no/such/folder"}, {"true"}));
  EXPECT_EQ(how.status, 1);
  EXPECT_THAT(how.err, HasSubstr("make the folder /no/such/folder: No such file or directory"));
}

INSTANTIATE_TEST_SUITE_P(Where, Programs,
                         testing::Values(std::vector<std::string>{},
                                         std::vector<std::string>{"--starter", PRETENDED_SSH,
                                                                  "--hosts", "a:3,b:3"}),
                         [](const auto& way) { return way.param.empty() ? "here" : "on_hosts"; });

}  // namespace
}  // namespace heddle::test
