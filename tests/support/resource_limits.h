// SPDX-License-Identifier: BSD-3-Clause
// resource_limits.h - for tests: a process that for a while gets no more of something.
#pragma once
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

namespace heddle::test {

/// While it lives, this process has no more than that of a resource.
class limit {
 public:
  limit(__rlimit_resource resource, rlim_t most) : resource_(resource) {
    EXPECT_EQ(getrlimit(resource_, &before_), 0);
    rlimit now = before_;
    now.rlim_cur = most;
    EXPECT_EQ(setrlimit(resource_, &now), 0);
  }
  ~limit() { EXPECT_EQ(setrlimit(resource_, &before_), 0); }
  limit(const limit&) = delete;
  limit& operator=(const limit&) = delete;

 private:
  const __rlimit_resource resource_;
  rlimit before_{};
};

/// No descriptor can be opened, even where another thread closes some: every free number is above
/// the limit.
struct no_descriptors : limit {
  no_descriptors() : limit(RLIMIT_NOFILE, STDERR_FILENO + 1) {}
};

/// Nothing can be mapped. What the allocator has already, it can give.
struct no_mappings : limit {
  no_mappings() : limit(RLIMIT_AS, 0) {}
};

}  // namespace heddle::test
