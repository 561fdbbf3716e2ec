// SPDX-License-Identifier: BSD-3-Clause
// holds.h - how many lanes the calling thread holds: counted in debug builds, so that what must not
// happen under a hold can say so when it does.
#pragma once
#include "base/checks.h"

namespace heddle::sync {

class holds {
 public:
  static void took() noexcept {
    if constexpr (checking) ++mine_;
  }
  static void let_go() noexcept {
    if constexpr (checking) --mine_;
  }
  /// 0 when nobody counts.
  [[nodiscard]] static int count() noexcept { return checking ? mine_ : 0; }

 private:
  // NOLINTNEXTLINE(readability-identifier-naming): a member like the others, one per thread
  static inline constinit thread_local int mine_ = 0;
};

}  // namespace heddle::sync
