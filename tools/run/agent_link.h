// SPDX-License-Identifier: BSD-3-Clause
// agent_link.h - the way to one host, from the launcher or from an agent: the starter that is run,
// and the agent at its end.
#pragma once
#include <sys/resource.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "run/channel.h"
#include "run/guardian.h"
#include "run/hosts.h"
#include "run/printed_lines.h"
#include "run/rank_process.h"

namespace heddle::tools {

/// Whether no starter is needed: the agent can be a child of the launcher.
[[nodiscard]] bool is_this_host(const std::string& name);

/// One thread.
class agent_link {
 public:
  enum class stage {
    starting,  ///< no greeting yet
    greeted,   ///< and not yet said that all agents of its branch have answered
    ready,
    done,  ///< nothing is left of its ranks
    lost,
  };
  struct handlers {
    std::function<void(agent_link&)> ready;
    std::function<void(agent_link&, agent_protocol::message)> take;
    /// Its end, unless it was done. `why` is a sentence that names the host.
    std::function<void(agent_link&, const std::string& why)> lost;
    /// A line for people that its agent, or what started that, has printed.
    std::function<void(agent_link&, const std::string& line)> told;
  };

  agent_link(event_loop& loop, branch to_start, const reach& way, handlers to);
  ~agent_link();
  agent_link(const agent_link&) = delete;
  agent_link& operator=(const agent_link&) = delete;

  /// Runs the starter, in a session of its own: what is typed at the launcher is not for it.
  /// Throws error.
  void start(const surroundings& around);
  void send(const agent_protocol::message& m);
  void drain(int ms);
  /// Nothing more is wanted from there: the agent ends, and what is left of its ranks with it.
  void close();
  /// A child of this process has ended: maybe the starter.
  void child_ended(pid_t process, int wait_status);

  [[nodiscard]] const std::string& host() const noexcept { return branch_.host.name; }
  /// Its agent's host, then those below.
  [[nodiscard]] std::vector<host_ranks> hosts() const;
  [[nodiscard]] stage at() const noexcept { return at_; }
  /// Its agent has answered, and may still have something to say.
  [[nodiscard]] bool is_alive() const noexcept {
    return at_ == stage::greeted || at_ == stage::ready;
  }
  /// The starter is gone, and nothing more will be said about this host.
  [[nodiscard]] bool gone() const noexcept {
    return starter_ < 0 && (at_ == stage::done || at_ == stage::lost);
  }

 private:
  [[nodiscard]] std::vector<std::string> start_command() const;
  void connect(unique_fd in, unique_fd out, unique_fd errors);
  void greet(const agent_protocol::greeting& g);
  void take(agent_protocol::message m);
  void become_ready();
  [[nodiscard]] agent_protocol::subtree below() const;
  void ended(const std::string& why);
  void lose(const std::string& why);
  [[nodiscard]] std::string why_no_agent() const;
  [[nodiscard]] std::string why_lost() const;

  event_loop& loop_;
  const branch branch_;
  const reach& way_;
  handlers to_;
  const bool direct_;  ///< without a starter
  stage at_ = stage::starting;
  std::optional<channel> channel_;
  const guardian* guard_ = nullptr;
  pid_t starter_ = -1, group_ = -1;
  std::optional<int> starter_end_;  ///< wait status
  std::string channel_end_;         ///< why the channel has ended, if that is known
  bool channel_ended_ = false;
  std::optional<printed_lines> errors_;
  std::string last_error_;                                      ///< line that was printed
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  ///< false: timers do nothing
};

}  // namespace heddle::tools
