// SPDX-License-Identifier: BSD-3-Clause
#include "run/rank_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace heddle::tools {
namespace {

std::string found(const std::string& program, const std::string& path) {
  int problem = 0;
  const std::string where = find_program(program, path, problem);
  EXPECT_EQ(problem == 0, !where.empty());
  return where.empty() ? strerrorname_np(problem) : where;
}

TEST(FindProgram, LooksThroughThePathInOrder) {
  EXPECT_EQ(found("sh", "/nowhere:/bin:/usr/bin"), "/bin/sh");
  EXPECT_EQ(found("sh", "/nowhere"), "ENOENT");
}

TEST(FindProgram, ANameWithASlashIsNotLookedUp) {
  EXPECT_EQ(found("/bin/sh", ""), "/bin/sh");
  EXPECT_EQ(found("./sh", "/bin"), "ENOENT");
}

TEST(FindProgram, TellsWhatIsNoProgramFromWhatIsNotThere) {
  EXPECT_EQ(found("/etc/passwd", ""), "EACCES");
  EXPECT_EQ(found("passwd", "/etc:/nowhere"), "EACCES");
  EXPECT_EQ(found("/tmp", ""), "EISDIR");
  EXPECT_EQ(found("", "/bin"), "ENOENT");
}

TEST(DescribeEnd, NamesStatusesAndSignals) {
  EXPECT_EQ(describe_end(W_EXITCODE(3, 0)), "exited with status 3");
  EXPECT_EQ(describe_end(W_EXITCODE(0, 9)), "was killed by signal 9 (SIGKILL)");
  EXPECT_EQ(describe_end(W_EXITCODE(0, 11) | WCOREFLAG),
            "was killed by signal 11 (SIGSEGV, core dumped)");
  EXPECT_EQ(describe_end(W_EXITCODE(0, 40)), "was killed by signal 40");
}

TEST(DescribeEnd, StatusesAreThoseOfAShell) {
  EXPECT_EQ(shell_status(W_EXITCODE(3, 0)), 3);
  EXPECT_EQ(shell_status(W_EXITCODE(0, 15)), 143);
}

TEST(AllowedCpus, AreAscendingAndAtLeastOne) {
  const auto cpus = allowed_cpus();
  EXPECT_FALSE(cpus.empty());
  EXPECT_TRUE(std::is_sorted(cpus.begin(), cpus.end()));
}

}  // namespace
}  // namespace heddle::tools
