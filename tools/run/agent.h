// SPDX-License-Identifier: BSD-3-Clause
// agent.h - runs the ranks of one host for a launcher on another, and the agents of a branch.
#pragma once
#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "run/channel.h"
#include "run/crew.h"
#include "run/event_loop.h"
#include "run/fleet.h"
#include "run/open_files.h"
#include "run/relayed_meetings.h"
#include "run/signals.h"

namespace heddle::tools {

/// `heddle agent`. Speaks with the launcher, or with the agent that has started it and stands for
/// the launcher here, over this process's input and output; when these end, or when nothing comes
/// from there for too long, its ranks are killed and its branch is left. To its branch it is what
/// the launcher is to it: the owner of a fleet, which passes on. One thread, once.
class agent final : public group_owner {
 public:
  agent();  ///< throws error
  agent(const agent&) = delete;
  agent& operator=(const agent&) = delete;

  /// Until the launcher has no more use for it. Returns the process's exit status.
  [[nodiscard]] int run();

  void rank_started(int rank, pid_t process, const std::string& host) override;
  void rank_ended(const rank_end& end) override;
  void wants_input() override;
  void cannot_start(int status, const std::string& why) override { impossible(status, why); }
  void remark(const std::string& host, const std::string& text) override;
  void host_lost(const std::vector<int>& ranks, const std::string& why) override;

 private:
  /// One of the two outputs of this host's ranks, as the launcher gets it.
  class stream final : public sink {
   public:
    stream(agent& to, int number) : to_(to), number_(number) {}
    void write(std::string_view text) override;
    [[nodiscard]] bool full() const noexcept override { return under_way_ > most_kept_output; }
    [[nodiscard]] bool closed() const noexcept override { return unread_; }
    void taken(std::size_t bytes) noexcept { under_way_ -= std::min(bytes, under_way_); }
    void unread() noexcept { unread_ = true; }

   private:
    agent& to_;
    int number_;
    std::size_t under_way_ = 0;
    bool unread_ = false;
  };

  void take(const agent_protocol::message& m);
  void grow(const agent_protocol::message& m);
  void begin(const agent_protocol::message& m);
  void keep_own(agent_protocol::set_up& what) const;
  void start(const agent_protocol::set_up& what);
  void impossible(int status, const std::string& why);
  void pass_on(int signal);
  void deliver(const std::vector<meeting_rounds::reply>& replies);
  void on_signal();
  void reap();
  void look_whether_done();
  [[nodiscard]] bool all_gone() const;
  void cut_off(const std::string& why);
  void kill_all();

  [[nodiscard]] stream* output(int number);

  event_loop loop_;
  signal_catcher signals_;
  open_files limits_;
  std::optional<channel> up_;
  relayed_meetings meetings_;
  stream out_{*this, 1}, errors_{*this, 2};
  std::unique_ptr<fleet> below_;  ///< when there is a branch
  std::unique_ptr<crew> ranks_;   ///< from the set-up on
  bool placed_ = false;           ///< knows its branch, and for how long to wait for the launcher
  bool begun_ = false;            ///< the set-up was there
  bool done_ = false;             ///< and the launcher knows
  bool over_ = false;             ///< the launcher has closed the channel, or is lost
};

}  // namespace heddle::tools
