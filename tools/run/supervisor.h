// supervisor.h - one job from its start to its last process's end.
#pragma once
#include <sys/resource.h>
#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "run/boot_server.h"
#include "run/event_loop.h"
#include "run/guardian.h"
#include "run/launcher.h"
#include "run/output.h"
#include "run/rank_process.h"
#include "run/signals.h"
#include "run/stdin_relay.h"

namespace heddle::tools {

/// One thread, one job.
class supervisor {
 public:
  /// `program` is what all ranks run; its environment lacks only the launcher's own names.
  supervisor(const launch_options& options, command program);  ///< throws error
  ~supervisor();
  supervisor(const supervisor&) = delete;
  supervisor& operator=(const supervisor&) = delete;

  /// Runs the job; what launch() returns. Once.
  [[nodiscard]] int run();

 private:
  enum class stage {
    running,
    leftovers,  ///< the rank has ended; its process group is not empty yet
    gone,
  };
  struct rank_state {
    int rank;
    pid_t pid;
    stage at = stage::running;
  };

  void start_ranks();
  [[nodiscard]] bool start(int rank);
  [[nodiscard]] command command_of(int rank, int boot_fd) const;
  [[nodiscard]] placement placement_of(int rank);
  void let_go(int rank);

  void on_signal();
  void on_end_request(int signal);
  void stop_and_continue();
  void reap();
  void rank_ended(rank_state& r, int wait_status);
  void report_failure(const rank_state& r, int wait_status);
  void clear_leftovers(rank_state& r);
  void check_leftovers(rank_state& r);

  void end_job();
  void signal_ranks(int signal) const;
  [[nodiscard]] bool all_gone() const;
  void drain_output();
  [[nodiscard]] int status_with_output() const;

  // Constant after construction.
  const launch_options options_;
  const command program_;
  rlimit open_files_{};  ///< as found
  int was_subreaper_ = 0;

  event_loop loop_;
  signal_catcher signals_;
  guardian guard_;
  std::optional<boot_server> boot_;
  sink out_{loop_, 1}, errors_{loop_, 2};
  std::vector<std::unique_ptr<rank_output>> outputs_;  ///< with --prefix: two per rank
  std::optional<stdin_relay> relay_;                   ///< when the input is a terminal
  unique_fd no_input_;
  std::vector<int> cpus_;  ///< with --bind core
  std::vector<rank_state> ranks_;
  int status_ = 0;        ///< of the first failure
  bool ending_ = false;   ///< the ranks have been told to end: how they end counts no more
  int end_requests_ = 0;  ///< signals that asked for an end
};

}  // namespace heddle::tools
