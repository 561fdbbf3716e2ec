// fleet.h - the ranks of a job on several hosts, by the agents that run them there.
#pragma once
#include <array>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "run/agent_link.h"
#include "run/guardian.h"
#include "run/host_process.h"
#include "run/meeting_place.h"
#include "run/output.h"
#include "run/rank_group.h"

namespace heddle::tools {

/// What a fleet is to do.
struct fleet_orders {
  std::vector<host_ranks> hosts;
  reach way;
  agent_protocol::set_up job;  ///< for all hosts; command_of is by rank
};

/// A star: the launcher speaks with each agent itself. One thread.
class fleet final : public rank_group {
 public:
  /// The launcher's outputs.
  struct outputs {
    sink &output, &errors;
  };

  /// All but `orders` must outlive it. Throws error.
  fleet(const host_process& here, meeting_place& meetings, group_owner& owner, outputs to,
        fleet_orders orders);
  ~fleet() override;
  fleet(const fleet&) = delete;
  fleet& operator=(const fleet&) = delete;

  void start() override;
  void reap(const std::vector<ended_child>& ended) override;
  void signal(int signal) override;
  void input(std::string_view piece) override;
  void abandon() override;
  [[nodiscard]] int running() const override { return static_cast<int>(running_.size()); }
  [[nodiscard]] bool all_gone() const override;
  void deliver(const std::vector<rendezvous::reply>& replies) override;
  void finish_output() override {}

 private:
  void greeted();
  void set_up(agent_link& link);
  void take(agent_link& link, const agent_protocol::message& m);
  [[nodiscard]] bool take_from_rank(agent_link& link, const agent_protocol::message& m);
  void rank_ended(agent_link& link, const agent_protocol::message& m);
  void take_output(agent_link& link, const agent_protocol::message& m);
  void acknowledge_output();
  void done(agent_link& link);
  void signal_before_launch(int signal);
  void leave_agents();
  void lost(agent_link& link, const std::string& why);
  void hint_at_missing();
  [[nodiscard]] sink& stream(int number) { return number == 1 ? to_.output : to_.errors; }

  const host_process here_;
  meeting_place& meetings_;
  group_owner& owner_;
  outputs to_;
  const fleet_orders orders_;
  guardian guard_;
  std::vector<std::unique_ptr<agent_link>> links_;  ///< by host
  std::vector<agent_link*> link_of_;                ///< by rank
  std::set<int> running_;  ///< ranks whose end is not known; from the launch on
  bool launched_ = false;  ///< set-ups are out
  bool ending_ = false;    ///< before the launch
  struct unacknowledged {
    agent_link* link;
    int stream;
    std::size_t bytes;
  };
  std::vector<unacknowledged> unacknowledged_;
};

}  // namespace heddle::tools
