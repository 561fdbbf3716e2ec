// SPDX-License-Identifier: BSD-3-Clause
// dev_shm_test.cpp - jobs on a host whose /dev/shm is full or read-only: only the software Tofu
// device needs it, and says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "system/child.h"

namespace heddle::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// The command where /dev/shm is a tmpfs of its own with these mount options.
outcome run_with_dev_shm(const std::string& options, const std::vector<std::string>& command) {
  const std::string script = "mount -t tmpfs -o " + options + " none /dev/shm && exec \"$@\"";
  std::vector<std::string> words{"unshare", "--mount", "--propagation", "private",
                                 "sh",      "-c",      script,          "sh"};
  words.insert(words.end(), command.begin(), command.end());
  return run(words);
}

/// A /dev/shm in which nothing can be made: its mount options.
class DevShm : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (run_with_dev_shm(GetParam(), {"true"}).status != 0) GTEST_SKIP() << "only root may mount";
  }
};
INSTANTIATE_TEST_SUITE_P(Kinds, DevShm, testing::Values("ro", "size=4k,nr_inodes=2"),
                         [](const auto& one) {
                           return std::string(one.param) == "ro" ? "ReadOnly" : "Full";
                         });

TEST_P(DevShm, SharedMemoryBetweenRanksDoesWithoutIt) {
  const auto how = run_with_dev_shm(GetParam(), {HEDDLE, "bench", "bandwidth", "--backend", "shm",
                                                 "--rounds", "1", "--time-ms", "1"});
  EXPECT_EQ(how.status, 0) << how.err;
}

TEST_P(DevShm, TheSoftwareTofuDeviceNamesItAsTheCause) {
  const auto how = run_with_dev_shm(
      GetParam(), {"env", "HEDDLE_BACKENDS=utofu", HEDDLE, "run", "-n", "2", "--", HEDDLE, "info"});
  if (how.out.find("not built") != std::string::npos) GTEST_SKIP() << "built without uTofu";
  EXPECT_EQ(how.status, 1);
  EXPECT_THAT(how.err, HasSubstr("/dev/shm"));
  EXPECT_THAT(how.out, AllOf(HasSubstr("create a control queue (VCQ): UTOFU_ERR_FATAL"),
                             Not(HasSubstr("is left on this node"))));
}

}  // namespace
}  // namespace heddle::test
