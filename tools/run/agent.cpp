// SPDX-License-Identifier: BSD-3-Clause
#include "run/agent.h"

#include <fcntl.h>
#include <heddle/info.h>
#include <signal.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "exit_status.h"
#include "run/failure.h"
#include "run/job_environment.h"

namespace heddle::tools {

using agent_protocol::bytes_of;
using agent_protocol::message;
using agent_protocol::message_kind;

namespace {

constexpr int kill_wait_ms = 1000;
constexpr int first_word_wait_s = 120;

// The launcher's end of a pipe must not be what ranks, or a stray message of ours, print to.
unique_fd take_over(int standard) {
  const int fd = fcntl(standard, F_DUPFD_CLOEXEC, 3);
  if (fd < 0) fail_errno(errno, "take over the launcher's channel");
  return unique_fd(fd);
}

void leave_nothing_at(int standard, int flags) {
  const unique_fd nothing(open("/dev/null", flags | O_CLOEXEC));
  if (!nothing) fail_errno(errno, "open /dev/null");
  dup2(nothing.get(), standard);
}

std::string silent_launcher(int seconds) {
  return fmt::format("nothing heard from the launcher for {} s: ending the ranks here", seconds);
}

}  // namespace

void agent::stream::write(std::string_view text) {
  if (text.empty() || unread_) return;
  under_way_ += text.size();
  to_.up_->send(message{message_kind::output, {number_}, bytes_of(text)});
}

agent::agent() : meetings_([this](const message& m) { up_->send(m); }) {
  unique_fd in = take_over(STDIN_FILENO), out = take_over(STDOUT_FILENO);
  leave_nothing_at(STDIN_FILENO, O_RDONLY);
  leave_nothing_at(STDOUT_FILENO, O_WRONLY);
  const channel::handlers handlers{.greeted = {},
                                   .take = [this](const message& m) { take(m); },
                                   .ended = [this](const std::string& why) { cut_off(why); }};
  up_.emplace(loop_, std::move(in), std::move(out), handlers, false);
  loop_.watch(signals_.fd(), EPOLLIN, [this] { on_signal(); });
  loop_.after(first_word_wait_s * 1000, [this] {
    if (!placed_) cut_off(silent_launcher(first_word_wait_s));
  });
}

int agent::run() {
  const std::string hello = agent_protocol::encode(
      agent_protocol::greeting{agent_protocol::version, std::string(version())});
  up_->send(std::as_bytes(std::span(hello)));
  while (!over_) {
    loop_.run_once();
    look_whether_done();
  }
  if (done_) return success;
  kill_all();
  return failed;
}

void agent::take(const message& m) {
  switch (m.kind) {
    case message_kind::branch:
      return grow(m);
    case message_kind::set_up:
      return begin(m);
    case message_kind::signal:
      return pass_on(m.number(0));
    case message_kind::reply:
      return deliver(relayed_meetings::replies_in(m));
    case message_kind::input:
      if (ranks_) ranks_->input(m.text());
      return;
    case message_kind::taken:
      if (stream* s = output(m.number(0))) s->taken(static_cast<std::size_t>(m.numbers[1]));
      return;
    case message_kind::unread:
      if (stream* s = output(m.number(0))) s->unread();
      return;
    default:
      cut_off("the launcher does not speak this agent's protocol");
  }
}

agent::stream* agent::output(int number) {
  if (number == 1) return &out_;
  return number == 2 ? &errors_ : nullptr;
}

void agent::grow(const message& m) {
  const auto what = agent_protocol::decode_subtree(m);
  if (!what || std::exchange(placed_, true)) return cut_off("the launcher's branch is malformed");
  up_->watch_silence(what->way.silence_s,
                     [this, limit = what->way.silence_s] { cut_off(silent_launcher(limit)); });
  if (what->hosts.empty()) return up_->send(message{message_kind::ready});
  try {
    below_ = std::make_unique<fleet>(host_process{loop_, signals_, limits_}, meetings_, *this,
                                     relayed_output::sinks{out_, errors_},
                                     fleet_orders{what->hosts, what->way});
    below_->when_ready([this] { up_->send(message{message_kind::ready}); });
    below_->start();
  } catch (const error& problem) {
    impossible(failed, problem.what());
  }
}

void agent::begin(const message& m) {
  auto what = agent_protocol::decode_set_up(m);
  if (!what || !placed_ || std::exchange(begun_, true))
    return cut_off("the launcher's set-up is malformed");
  up_->expect_ranks(what->job_size);
  try {
    if (below_) below_->launch(*what);
    keep_own(*what);
    start(*what);
  } catch (const usage_error& problem) {
    impossible(bad_usage, fmt::format("{}: {}", what->host, problem.what()));
  } catch (const error& problem) {
    impossible(failed, fmt::format("{}: {}", what->host, problem.what()));
  }
}

// Of the ranks that are for this agent and its branch.
void agent::keep_own(agent_protocol::set_up& what) const {
  std::vector<int> ranks, command_of;
  for (std::size_t i = 0; i < what.ranks.size(); ++i) {
    if (below_ && below_->runs(what.ranks[i])) continue;
    ranks.push_back(what.ranks[i]);
    command_of.push_back(what.command_of[i]);
  }
  what.ranks = std::move(ranks);
  what.command_of = std::move(command_of);
}

void agent::start(const agent_protocol::set_up& what) {
  if (chdir(what.directory.c_str()) != 0)
    return impossible(failed,
                      fmt::format("{} has no directory {} ({}): --workdir DIR names one that all "
                                  "hosts have",
                                  what.host, what.directory, strerrordesc_np(errno)));
  crew_orders orders;
  orders.job_size = what.job_size;
  orders.ranks = what.ranks;
  orders.secret = what.secret;
  orders.command_of = what.command_of;
  orders.commands = what.commands;
  orders.environment = environment_on_host(what.environment, what.directory);
  orders.output_folder = what.output_folder;
  orders.host = what.host;
  orders.bind = what.bind;
  orders.prefix = what.prefix;
  orders.output = &out_;
  orders.errors = &errors_;
  orders.feeds_first = true;
  ranks_ = std::make_unique<crew>(host_process{loop_, signals_, limits_}, meetings_, *this,
                                  std::move(orders));
  ranks_->start();
}

void agent::impossible(int status, const std::string& why) {
  up_->send(message{message_kind::impossible, {status}, bytes_of(why)});
}

void agent::remark(const std::string& host, const std::string& text) {
  up_->send(message{message_kind::remark, {}, bytes_of(host + '\n' + text)});
}

void agent::host_lost(const std::vector<int>& ranks, const std::string& why) {
  up_->send(message{message_kind::lost, {ranks.begin(), ranks.end()}, bytes_of(why)});
}

void agent::rank_started(int rank, pid_t process, const std::string&) {
  up_->send(message{message_kind::started, {rank, process}});
}

void agent::rank_ended(const rank_end& end) {
  up_->send(message{message_kind::ended, {end.rank, end.process, end.wait_status}});
}

void agent::pass_on(int signal) {
  if (signal == SIGSTOP) up_->pause_watch(true);  // the launcher stops as well
  if (signal == SIGCONT) up_->pause_watch(false);
  if (signal <= 0 || signal >= SIGRTMAX) return;
  if (below_) below_->signal(signal);
  if (ranks_) ranks_->signal(signal);
}

void agent::deliver(const std::vector<meeting_rounds::reply>& replies) {
  std::vector<meeting_rounds::reply> own, others;
  for (const meeting_rounds::reply& reply : replies)
    (below_ && below_->runs(reply.rank) ? others : own).push_back(reply);
  if (below_) below_->deliver(others);
  if (ranks_) ranks_->deliver(own);
}

void agent::wants_input() {
  up_->send(message{message_kind::wants_input});
}

void agent::reap() {
  const auto ended = reap_children();
  if (below_) below_->reap(ended);
  if (ranks_) ranks_->reap(ended);
}

void agent::on_signal() {
  switch (const int signal = signals_.take()) {
    case 0:
    case SIGCONT:
    case SIGTSTP:
      break;
    case SIGCHLD:
      reap();
      break;
    default:
      cut_off(fmt::format("agent ended by signal {}", signal));
  }
}

void agent::look_whether_done() {
  if (!begun_ || done_ || over_ || !all_gone()) return;
  if (ranks_) ranks_->finish_output();
  done_ = true;
  up_->send(message{message_kind::done});
}

bool agent::all_gone() const {
  return (!below_ || below_->all_gone()) && (!ranks_ || ranks_->all_gone());
}

void agent::cut_off(const std::string& why) {
  if (std::exchange(over_, true)) return;
  // Once at most: the way to the launcher has room for it, also when nobody reads there.
  if (!why.empty()) std::fputs(fmt::format("heddle: {}\n", why).c_str(), stderr);
}

// The launcher must not take their deaths for the cause.
void agent::kill_all() {
  up_->close();
  if (below_) below_->leave();
  if (ranks_) ranks_->signal(SIGKILL);
  bool patient = true;
  loop_.after(kill_wait_ms, [&patient] { patient = false; });
  while (patient && !all_gone()) loop_.run_once();
}

}  // namespace heddle::tools
