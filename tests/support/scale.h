// SPDX-License-Identifier: BSD-3-Clause
// scale.h - how much work a stress test does: less under sanitizers, or as HEDDLE_TEST_SCALE says.
#pragma once
#include <cstdlib>
#include <string>

namespace heddle::test {

#ifdef __has_feature
inline constexpr bool thread_sanitized = __has_feature(thread_sanitizer);
inline constexpr bool sanitized = thread_sanitized || __has_feature(address_sanitizer);
#else  // g++ before 14
#ifdef __SANITIZE_THREAD__
inline constexpr bool thread_sanitized = true;
#else
inline constexpr bool thread_sanitized = false;
#endif
#ifdef __SANITIZE_ADDRESS__
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = thread_sanitized;
#endif
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
