// SPDX-License-Identifier: BSD-3-Clause
// fork.h - whether this process is the child of a fork: what it inherited then is its parent's.
#pragma once
#include "sync/special.h"

namespace heddle::sync {

/// From now on forks are noticed. Any thread, any number of times.
void watch_forks() noexcept;

/// True in every child of a process that had called watch_forks(). One load: no system call.
[[nodiscard]] inline bool forked() noexcept {
  return is(special::in_child);
}

/// Throws error in such a child, before anything of its parent's is touched by `what`.
void refuse_in_child(const char* what);

}  // namespace heddle::sync
