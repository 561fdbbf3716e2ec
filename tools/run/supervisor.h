// SPDX-License-Identifier: BSD-3-Clause
// supervisor.h - one job from its start to its last process's end.
#pragma once
#include <sys/types.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "run/crew.h"
#include "run/event_loop.h"
#include "run/job_meetings.h"
#include "run/launcher.h"
#include "run/launcher_input.h"
#include "run/launcher_output.h"
#include "run/open_files.h"
#include "run/rank_group.h"
#include "run/signals.h"

namespace heddle::tools {

/// Decides what the launcher does about its ranks, wherever they are. One thread, one job.
class supervisor final : public group_owner {
 public:
  /// `what` is what the ranks run. Throws error.
  supervisor(const launch_options& options, rank_commands what);
  supervisor(const supervisor&) = delete;
  supervisor& operator=(const supervisor&) = delete;

  /// Runs the job; what launch() returns. Once.
  [[nodiscard]] int run();

  void rank_started(int rank, pid_t process, const std::string& host) override;
  void rank_ended(const rank_end& end) override;
  void wants_input() override { input_->next(); }
  void cannot_start(int status, const std::string& why) override;
  void remark(const std::string& host, const std::string& text) override;
  void host_lost(const std::vector<int>& ranks, const std::string& why) override;

 private:
  [[nodiscard]] std::unique_ptr<rank_group> crew_of_this_host();
  [[nodiscard]] std::unique_ptr<rank_group> fleet_of_agents();
  [[nodiscard]] host_process here() { return {loop_, signals_, limits_}; }

  void on_signal();
  void on_end_request(int signal);
  void stop_and_continue();
  void report_failure(const rank_end& end);
  [[nodiscard]] const std::string& program_of(int rank) const;
  void end_job();
  void abort(int rank, int status, const std::string& why);
  void time_is_over();
  void end_stragglers();
  void drain_output();
  [[nodiscard]] int status_with_output() const;

  const launch_options options_;
  const rank_commands what_;
  event_loop loop_;
  signal_catcher signals_;
  open_files limits_;
  job_meetings meetings_;
  launcher_output output_;
  std::optional<launcher_input> input_;  ///< when this process has to read for rank 0
  std::unique_ptr<rank_group> ranks_;

  std::string host_;               ///< this one's name
  int status_ = 0;                 ///< of the first failure
  bool explained_ = false;         ///< it is what a rank has ended with that said why
  std::set<std::string> remarks_;  ///< that were made
  bool ending_ = false;            ///< the ranks have been told to end: how they end counts no more
  int exited_ = 0;                 ///< ranks that no signal has ended
  int end_requests_ = 0;           ///< signals that asked for an end
  int end_signal_ = 0;             ///< the last of them
};

}  // namespace heddle::tools
