// SPDX-License-Identifier: BSD-3-Clause
// mode_turns.h - progress modes measured in turn in one job: each turn is a world of its own.
//
// A world has one mode for life, and a process one world at a time. So every turn joins the job
// anew; what a world learns of its program it must learn again, before it is measured.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "contenders/session.h"

namespace heddle::bench {

class mode_turns {
 public:
  /// Played on every rank, in a world of the mode; rank 0's figures count. It ends when no other
  /// rank uses its buffers any more.
  using turn = std::function<std::vector<double>(session& in)>;
  using describe = std::function<std::string(const case_result& c)>;

  /// `o` must outlive this.
  explicit mode_turns(const options& o);

  /// Collective: the rounds of `c`, whose contenders are modes by their op ("inline", "idle" ...),
  /// whatever the environment said, and what a cache line needs while the last world is quiet. Sets
  /// HEDDLE_PROGRESS for the rest of the process. Throws like a session.
  void hold_rounds(case_result& c, const turn& play, const describe& title);
  /// On rank 0: prints the statistics, and keeps the records for the file.
  void conclude(const case_result& c);
  /// On rank 0, after the last measurement: writes the file.
  void write() const;

  /// That the job may use.
  [[nodiscard]] const std::vector<int>& cores() const noexcept { return cores_; }

 private:
  void play_round(case_result& c, const turn& play);

  const options& o_;
  const std::vector<int> cores_;  // before any session ties this thread to some of them
  bool reports_ = false;
  std::vector<record> records_;
};

}  // namespace heddle::bench
