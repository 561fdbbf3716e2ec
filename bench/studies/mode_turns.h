// SPDX-License-Identifier: BSD-3-Clause
// mode_turns.h - progress modes measured in turn in one job: each turn is a world of its own.
//
// A world has one mode for life, and a process one world at a time. So every turn joins the job
// anew; what a world learns of its program it must learn again, before it is measured.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "contenders/session.h"

namespace heddle::bench {

class mode_turns {
 public:
  /// `o` must outlive this.
  explicit mode_turns(const options& o);

  /// Collective: a session whose world is in this mode ("inline", "idle" ...), whatever the
  /// environment said. It must end before the next one begins. Sets HEDDLE_PROGRESS for the rest of
  /// the process. Throws like a session.
  [[nodiscard]] std::unique_ptr<session> join(const std::string& mode) const;

  /// That the job may use.
  [[nodiscard]] const std::vector<int>& cores() const noexcept { return cores_; }

 private:
  const options& o_;
  const std::vector<int> cores_;  // before any session ties this thread to some of them
};

}  // namespace heddle::bench
