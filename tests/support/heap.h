// SPDX-License-Identifier: BSD-3-Clause
// heap.h - for tests: what this process has of the heap.
#pragma once
#include <malloc.h>

#include <cstddef>

#include "support/scale.h"

namespace heddle::test {

/// 0 under a sanitizer: glibc's allocator, which it replaces, cannot be asked (glibc ends the
/// process when a thread that has asked ends).
inline std::size_t bytes_from_the_heap() {
  if (sanitized) return 0;
  const struct mallinfo2 heap = mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

}  // namespace heddle::test
