// SPDX-License-Identifier: BSD-3-Clause
// crew.h - the ranks of one job on this host, from their start until nothing of them is left.
#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "run/binding.h"
#include "run/boot_server.h"
#include "run/guardian.h"
#include "run/host_process.h"
#include "run/output.h"
#include "run/rank_group.h"
#include "run/rank_input.h"
#include "run/rank_process.h"

namespace heddle::tools {

/// What a crew is to do.
struct crew_orders {
  int job_size = 1;
  std::vector<int> ranks{};       ///< those of this host
  std::vector<int> command_of{};  ///< by place in `ranks`: an index in `commands`
  std::vector<std::vector<std::string>> commands{};  ///< each a program, then its arguments
  std::vector<std::string> environment{};            ///< lacks only the launcher's own names
  std::string output_folder{};  ///< ranks print into files there, "rank-3.out"; empty: they do not
  std::array<std::byte, 32> secret{};
  std::string host{};  ///< this host's name in the job; empty: the launcher's own host
  binding bind{binding::unit::none};
  bool prefix = false;       ///< lead lines with "[rank] "; only with `output` and `errors`
  bool feeds_first = false;  ///< rank 0 reads what input() is given, not what this process reads
  sink* output = nullptr;    ///< nullptr: ranks print where this process does
  sink* errors = nullptr;
};

/// While it lives, orphans of ranks belong to this process. One thread.
class crew final : public rank_group {
 public:
  /// All but `orders` must outlive it. Throws error.
  crew(const host_process& here, meeting_place& meetings, group_owner& owner, crew_orders orders);
  ~crew() override;
  crew(const crew&) = delete;
  crew& operator=(const crew&) = delete;

  void start() override;
  void reap(const std::vector<ended_child>& ended) override;
  void signal(int signal) override;
  void input(std::string_view piece) override;
  void abandon() override {}
  [[nodiscard]] int running() const override;
  [[nodiscard]] bool all_gone() const override;
  void deliver(const std::vector<meeting_rounds::reply>& replies) override;
  void finish_output() override;

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

  [[nodiscard]] bool find_programs();
  void bind();
  void start_next();
  [[nodiscard]] bool start(std::size_t place);
  void print_into_files(int rank, placement& where);
  [[nodiscard]] command command_of(std::size_t place, int boot_fd) const;
  [[nodiscard]] placement placement_of(int rank);
  void rank_ended(rank_state& r, int wait_status);
  void clear_leftovers(rank_state& r);
  void check_leftovers(rank_state& r);

  // Constant after construction.
  const host_process here_;
  group_owner& owner_;
  const crew_orders orders_;
  int was_subreaper_ = 0;
  std::vector<std::vector<int>> cpus_;  ///< by place, when ranks are bound
  unique_fd no_input_;
  std::vector<std::string> paths_;  ///< by command

  guardian guard_;
  boot_server boot_;
  std::vector<std::unique_ptr<rank_output>> outputs_;  ///< two per rank, or none
  std::vector<unique_fd> files_;                       ///< of the rank that is being started
  std::optional<rank_input> input_;                    ///< when rank 0 is here and is fed
  std::vector<rank_state> ranks_;                      ///< that have been started
  std::size_t unstarted_ = 0;                          ///< so many are still to be
  std::vector<int> signals_so_far_;                    ///< which those have missed
};

}  // namespace heddle::tools
