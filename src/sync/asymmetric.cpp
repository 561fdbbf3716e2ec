// SPDX-License-Identifier: BSD-3-Clause
// asymmetric.cpp - membarrier(2), which has no wrapper in the C library.
#include "sync/asymmetric.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace heddle::sync {

namespace {
long membarrier(int command) noexcept {
  return syscall(SYS_membarrier, command, 0, 0);
}
}  // namespace

bool enable_asymmetric() noexcept {
  return membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) == 0 &&
         membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED) == 0;
}

void heavy_barrier() noexcept {
  // Fails only where enable_asymmetric() said false, and there it is not needed.
  static_cast<void>(membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED));
}

bool enable_asymmetric_here() noexcept {
  static const bool enabled = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
  return enabled;
}

void heavy_barrier_here() noexcept {
  // As above: enable_asymmetric_here().
  static_cast<void>(membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED));
}

}  // namespace heddle::sync
