// SPDX-License-Identifier: BSD-3-Clause
// fleet.h - the ranks of a job on other hosts, by the agents that run them there.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "run/agent_link.h"
#include "run/guardian.h"
#include "run/host_process.h"
#include "run/meeting_place.h"
#include "run/rank_group.h"
#include "run/relayed_output.h"

namespace heddle::tools {

/// Which agents a fleet is to start.
struct fleet_orders {
  std::vector<host_ranks> hosts;
  reach way;
};

/// Of the launcher, or of an agent: on more hosts than the fan-out, some of its agents start fleets
/// of their own, so that the job's agents make a tree. What is said to a rank, and by it, goes the
/// tree's way, the same on each step. One thread.
class fleet final : public rank_group {
 public:
  /// All but `orders` must outlive it. Throws error.
  fleet(const host_process& here, meeting_place& meetings, group_owner& owner,
        relayed_output::sinks to, fleet_orders orders);

  /// Called once, when the agents of all hosts have answered.
  void when_ready(std::function<void()> ready) { ready_ = std::move(ready); }
  /// Starts the agents; no rank before launch().
  void start() override;
  /// Of `job` what is for these hosts. Once, not before all are ready.
  void launch(const agent_protocol::set_up& job);
  /// Has no more use for the agents.
  void leave();
  /// Whether the rank is on one of these hosts.
  [[nodiscard]] bool runs(int rank) const { return places_.contains(rank); }

  void reap(const std::vector<ended_child>& ended) override;
  void signal(int signal) override;
  void input(std::string_view piece) override;
  void abandon() override;
  [[nodiscard]] int running() const override { return static_cast<int>(running_.size()); }
  [[nodiscard]] bool all_gone() const override;
  void deliver(const std::vector<meeting_rounds::reply>& replies) override;
  void finish_output() override {}

 private:
  struct place {
    agent_link* link;
    std::string host;
  };

  void ready();
  void take(agent_link& link, const agent_protocol::message& m);
  [[nodiscard]] bool take_from_rank(agent_link& link, const agent_protocol::message& m);
  void take_loss(agent_link& link, const agent_protocol::message& m);
  void done(agent_link& link);
  void signal_before_launch(int signal);
  void lost(agent_link& link, const std::string& why);
  void hint_at_missing();
  [[nodiscard]] bool is_behind(const agent_link& link, std::int64_t rank) const;
  [[nodiscard]] std::vector<int> ranks_behind(const agent_link& link) const;

  const host_process here_;
  meeting_place& meetings_;
  group_owner& owner_;
  relayed_output output_;
  const fleet_orders orders_;
  std::function<void()> ready_;
  guardian guard_;
  std::vector<std::unique_ptr<agent_link>> links_;  ///< by branch
  std::map<int, place> places_;                     ///< by rank
  std::set<int> running_;  ///< ranks whose end is not known; from the launch on
  bool launched_ = false;  ///< set-ups are out
  bool left_ = false;      ///< the agents are wanted no longer
};

}  // namespace heddle::tools
