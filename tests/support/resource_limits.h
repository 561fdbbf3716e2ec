// SPDX-License-Identifier: BSD-3-Clause
// resource_limits.h - for tests: a process that for a while gets no more of something.
#pragma once
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>

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

/// No thread can be started whose starter does not ask for a stack of some size.
class no_threads {
 public:
  no_threads() {
    EXPECT_EQ(pthread_getattr_default_np(&before_), 0);
    pthread_attr_t now = before_;
    EXPECT_EQ(pthread_attr_setstacksize(&now, std::size_t{1} << 60), 0);
    EXPECT_EQ(pthread_setattr_default_np(&now), 0);
  }
  ~no_threads() { EXPECT_EQ(pthread_setattr_default_np(&before_), 0); }
  no_threads(const no_threads&) = delete;
  no_threads& operator=(const no_threads&) = delete;

 private:
  pthread_attr_t before_{};
};

/// Nothing can be mapped. What the allocator has already, it can give.
struct no_mappings : limit {
  no_mappings() : limit(RLIMIT_AS, 0) {}
};

}  // namespace heddle::test
