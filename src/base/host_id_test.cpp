// SPDX-License-Identifier: BSD-3-Clause
#include "base/host_id.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

namespace heddle {
namespace {

TEST(HostId, IsTheSameEachTimeAndHasAName) {
  EXPECT_EQ(this_host("").id, this_host("").id);
  EXPECT_FALSE(this_host("").id.empty());
  EXPECT_FALSE(this_host("").name.empty());
}

TEST(HostId, AnOverrideMakesADifferentHostWithThatName) {
  EXPECT_NE(this_host("left").id, this_host("").id);
  EXPECT_NE(this_host("left").id, this_host("right").id);
  EXPECT_EQ(this_host("left").id, this_host("left").id);
  EXPECT_EQ(this_host("left").name, "left");
}

TEST(HostId, AnotherNetworkNamespaceIsAnotherHost) {
  const std::string here = this_host("").id;
  const pid_t child = fork();
  if (child == 0) {
    if (unshare(CLONE_NEWNET) != 0) _exit(77);
    _exit(this_host("").id != here && this_host("x").id == this_host("x").id ? 0 : 1);
  }
  int how = 0;
  ASSERT_EQ(waitpid(child, &how, 0), child);
  ASSERT_TRUE(WIFEXITED(how));
  if (WEXITSTATUS(how) == 77) GTEST_SKIP() << "not permitted to make a network namespace";
  EXPECT_EQ(WEXITSTATUS(how), 0);
}

}  // namespace
}  // namespace heddle
