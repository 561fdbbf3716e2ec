// SPDX-License-Identifier: BSD-3-Clause
// guardian.h - a process that outlives the launcher just long enough to kill what it leaves behind.
//
// PR_SET_PDEATHSIG kills a rank when the launcher is killed, but not what the rank has started: a
// program behind a wrapper script would stay. The guardian knows the ranks' process groups and
// kills those when the launcher's end of a pipe closes.
#pragma once
#include <sys/types.h>

#include "bootstrap/launcher_protocol.h"  // unique_fd

namespace heddle::tools {

/// One thread. Made before the ranks, so that it inherits nothing of theirs.
class guardian {
 public:
  guardian();   ///< throws error: no more processes
  ~guardian();  ///< kills the groups it still watches, and waits for the guardian's own end
  guardian(const guardian&) = delete;
  guardian& operator=(const guardian&) = delete;

  /// Async-signal-safe: a rank says it about itself between fork and exec, so that no rank runs
  /// unwatched.
  void watch(pid_t group) const noexcept { tell(group); }
  /// The group is empty; its number may be used again by others.
  void forget(pid_t group) const noexcept { tell(-group); }

 private:
  void tell(pid_t message) const noexcept;

  unique_fd pipe_;
  pid_t process_ = -1;
};

}  // namespace heddle::tools
