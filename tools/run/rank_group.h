// SPDX-License-Identifier: BSD-3-Clause
// rank_group.h - what a job's supervisor sees of its ranks, on this host or on others.
#pragma once
#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "run/meeting_rounds.h"
#include "run/rank_process.h"

namespace heddle::tools {

/// How one rank's process ended.
struct rank_end {
  int rank;
  pid_t process;
  int wait_status;   ///< as waitpid gives it
  std::string host;  ///< empty: the launcher's own
};

/// Whoever is told what becomes of a group's ranks. Calls come from the event loop.
class group_owner {
 public:
  virtual ~group_owner() = default;
  virtual void rank_started(int rank, pid_t process, const std::string& host) = 0;
  virtual void rank_ended(const rank_end& end) = 0;
  /// Rank 0 is ready for the next piece of input.
  virtual void wants_input() = 0;
  /// Not all ranks can be started; `status` is what the launcher should end with.
  virtual void cannot_start(int status, const std::string& why) = 0;
  /// Something that people should know, and that is no failure. `host` may be empty.
  virtual void remark(const std::string& host, const std::string& text) = 0;
  /// These are as good as killed. `why` is a sentence that names the host.
  virtual void host_lost(const std::vector<int>& ranks, const std::string& why) = 0;
};

/// Ranks of one job. One thread.
class rank_group {
 public:
  virtual ~rank_group() = default;
  /// Begins to start all of them; the loop goes on with it. The owner is told why not all can be.
  /// Throws error.
  virtual void start() = 0;
  /// Children of this process have ended; some of them may be the group's.
  virtual void reap(const std::vector<ended_child>& ended) = 0;
  /// To the ranks and what they have started.
  virtual void signal(int signal) = 0;
  /// A piece for rank 0 to read, at most one for each time that it wanted one; empty: the end.
  virtual void input(std::string_view piece) = 0;
  /// Those that have not ended after SIGKILL are waited for no longer.
  virtual void abandon() = 0;
  /// Ranks whose process has not ended, or not begun.
  [[nodiscard]] virtual int running() const = 0;
  /// Nothing is left of any rank, and none is still to be started.
  [[nodiscard]] virtual bool all_gone() const = 0;
  /// Answers of the job's meetings.
  virtual void deliver(const std::vector<meeting_rounds::reply>& replies) = 0;
  /// Takes what the ranks have printed, now that all are gone.
  virtual void finish_output() = 0;
};

}  // namespace heddle::tools
