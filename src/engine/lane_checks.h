// SPDX-License-Identifier: BSD-3-Clause
// lane_checks.h - whether the calling thread may use a lane, or wait on it: not in the child of a
// fork, and, where HEDDLE_CHECKS looks, not by mistake. One test where nothing is special.
#pragma once
#include "engine/lane_core.h"
#include "sync/fork.h"
#include "sync/misuse.h"

namespace heddle::engine {

/// False in the child of a fork.
[[gnu::noinline]] inline bool may_use_specially(const lane_core& core) noexcept {
  if (sync::forked()) return false;
  if (sync::looks_for_misuse()) core.user().check_use();
  return true;
}
inline bool may_use(const lane_core& core) noexcept {
  if (!sync::is_special()) [[likely]]
    return true;
  return may_use_specially(core);
}

/// The same, for what waits.
[[gnu::noinline]] inline bool may_wait_specially(const lane_core& core) noexcept {
  if (sync::forked()) return false;
  if (sync::looks_for_misuse()) core.user().check_wait();
  return true;
}
inline bool may_wait(const lane_core& core) noexcept {
  if (!sync::is_special()) [[likely]]
    return true;
  return may_wait_specially(core);
}

/// For what may turn out not to wait.
inline void may_block(const lane_core& core) noexcept {
  (void)may_wait(core);
}

}  // namespace heddle::engine
