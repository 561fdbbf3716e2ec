// SPDX-License-Identifier: BSD-3-Clause
// ordered_elsewhere.h - reads that somebody else's lock orders, out of a thread sanitizer's sight.
#pragma once

#if defined(__SANITIZE_THREAD__)
extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
}
#endif

namespace heddle::sync {

/// While one lives, what this thread reads is ordered by a lock in a library that was built without
/// the thread sanitizer, as the dynamic loader's is. The sanitizer cannot know of that lock and
/// would report races with whatever that library writes or frees, so it is told to look away.
/// Without the sanitizer it does nothing.
class ordered_elsewhere {
 public:
#if defined(__SANITIZE_THREAD__)
  ordered_elsewhere() noexcept {
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
  }
  ~ordered_elsewhere() {
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
  }
#else
  ordered_elsewhere() noexcept {}  // NOLINT(modernize-use-equals-default): else it counts as unused
  ~ordered_elsewhere() {}          // NOLINT(modernize-use-equals-default): likewise
#endif
  ordered_elsewhere(const ordered_elsewhere&) = delete;
  ordered_elsewhere& operator=(const ordered_elsewhere&) = delete;
};

}  // namespace heddle::sync
