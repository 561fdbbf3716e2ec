// SPDX-License-Identifier: BSD-3-Clause
// scale.h - how much work a stress test does: less under sanitizers, or as HEDDLE_TEST_SCALE says.
#pragma once
#include <cstdlib>
#include <string>

namespace heddle::test {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr bool sanitized = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif
#else
inline constexpr bool sanitized = false;
#endif

#if defined(__SANITIZE_THREAD__)
inline constexpr bool thread_sanitized = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
inline constexpr bool thread_sanitized = true;
#else
inline constexpr bool thread_sanitized = false;
#endif
#else
inline constexpr bool thread_sanitized = false;
#endif

/// The factor for amounts of work: HEDDLE_TEST_SCALE (1 is normal), else 0.1 under sanitizers.
inline double scale() {
  static const double value = [] {
    const char* text = std::getenv("HEDDLE_TEST_SCALE");
    return text != nullptr ? std::stod(text) : sanitized ? 0.1 : 1.0;
  }();
  return value;
}

/// `n` scaled, but at least `least`.
inline int scaled(int n, int least = 1) {
  const int m = static_cast<int>(n * scale());
  return m < least ? least : m;
}

}  // namespace heddle::test
