// SPDX-License-Identifier: BSD-3-Clause
#include "run/supervisor.h"

#include <signal.h>
#include <sodium.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <exception>
#include <filesystem>

#include "exit_status.h"
#include "run/failure.h"
#include "run/fleet.h"
#include "run/job_environment.h"

namespace heddle::tools {
namespace {

constexpr std::uint64_t grace_ms = 2000;    ///< between SIGTERM and SIGKILL
constexpr std::uint64_t give_up_ms = 3000;  ///< after SIGKILL

std::array<std::byte, 32> make_secret() {
  if (sodium_init() < 0) throw error("make the job's secret: libsodium finds no randomness");
  std::array<std::byte, 32> secret;
  randombytes_buf(secret.data(), secret.size());
  return secret;
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

}  // namespace

supervisor::supervisor(const launch_options& options, rank_commands what)
    : options_(options),
      what_(std::move(what)),
      meetings_(
          loop_, options.ranks, [this](const auto& replies) { ranks_->deliver(replies); },
          [this](int rank, int status, const std::string& why) { abort(rank, status, why); },
          [this](const std::string& line) { say(output_.errors(), "{}", line); }),
      output_(loop_, options.take_output, options.prefix || !options.hosts.empty()),
      host_(host_name()) {
  // A rank of this host reads for itself, but from a terminal only its foreground may.
  if (!options.hosts.empty() || isatty(STDIN_FILENO))
    input_.emplace(loop_, [this](std::string_view piece) { ranks_->input(piece); });
  ranks_ = options.hosts.empty() ? crew_of_this_host() : fleet_of_agents();
  loop_.watch(signals_.fd(), EPOLLIN, [this] { on_signal(); });
}

std::unique_ptr<rank_group> supervisor::crew_of_this_host() {
  crew_orders orders;
  orders.job_size = options_.ranks;
  for (int rank = 0; rank < options_.ranks; ++rank) orders.ranks.push_back(rank);
  orders.secret = make_secret();
  orders.command_of = what_.of_rank;
  orders.commands = what_.commands;
  orders.environment = environment_with(options_.environment);
  orders.output_folder = options_.output_folder;
  orders.bind = binding_beside(options_.bind, orders.environment);
  orders.prefix = options_.prefix;
  if (output_.relays()) {
    orders.output = &output_.of_ranks();
    orders.errors = &output_.errors();
  }
  orders.feeds_first = input_.has_value();
  return std::make_unique<crew>(here(), meetings_, *this, std::move(orders));
}

std::unique_ptr<rank_group> supervisor::fleet_of_agents() {
  agent_protocol::set_up job;
  job.job_size = options_.ranks;
  job.prefix = options_.prefix;
  job.secret = make_secret();
  job.directory = options_.way.directory;
  if (job.directory.empty()) job.directory = std::filesystem::current_path().string();
  job.commands = what_.commands;
  job.command_of = what_.of_rank;
  for (int rank = 0; rank < options_.ranks; ++rank) job.ranks.push_back(rank);
  job.environment = environment_to_send(options_.environment);
  job.bind = binding_beside(options_.bind, job.environment);
  job.output_folder = options_.output_folder;
  auto agents = std::make_unique<fleet>(here(), meetings_, *this,
                                        relayed_output::sinks{output_.of_ranks(), output_.errors()},
                                        fleet_orders{options_.hosts, options_.way});
  agents->when_ready([all = agents.get(), job = std::move(job)] { all->launch(job); });
  return agents;
}

const std::string& supervisor::program_of(int rank) const {
  const int command = what_.of_rank[static_cast<std::size_t>(rank)];
  return what_.commands[static_cast<std::size_t>(command)].front();
}

int supervisor::run() {
  std::exception_ptr problem;
  if (options_.timeout_s > 0)
    loop_.after(static_cast<std::uint64_t>(options_.timeout_s) * 1000, [this] { time_is_over(); });
  try {
    ranks_->start();
  } catch (const std::exception&) {
    problem = std::current_exception();
    end_job();
  }
  while (!ranks_->all_gone()) loop_.run_once();
  drain_output();
  if (problem) std::rethrow_exception(problem);
  return status_with_output();
}

void supervisor::rank_started(int rank, pid_t process, const std::string& host) {
  meetings_.process_started(rank, process, host.empty() ? host_ : host);
  if (rank == 0 && input_) input_->next();
}

void supervisor::cannot_start(int status, const std::string& why) {
  if (ending_) return;
  if (status_ == 0) status_ = status;
  say(output_.errors(), "{}", why);
  end_job();
}

// Many hosts would remark the same.
void supervisor::remark(const std::string& host, const std::string& text) {
  if (remarks_.insert(text).second)
    say(output_.errors(), "{}{}{}", host, host.empty() ? "" : ": ", text);
}

void supervisor::host_lost(const std::vector<int>&, const std::string& why) {
  if (ending_) return;
  if (status_ == 0) status_ = failed;
  const bool end_others = !options_.keep_going;
  say(output_.errors(), "{}{}", why, end_others ? ": ending the job" : "");
  if (end_others) end_job();
}

void supervisor::time_is_over() {
  constexpr int status_of_timeout = 124;  // as timeout(1) has it
  if (ending_ || ranks_->all_gone()) return;
  if (status_ == 0) status_ = status_of_timeout;
  say(output_.errors(), "the job has not ended after {} s (--timeout): ending it",
      options_.timeout_s);
  end_job();
}

void supervisor::on_signal() {
  switch (const int signal = signals_.take()) {
    case 0:
      break;
    case SIGCHLD:
      ranks_->reap(reap_children());
      break;
    case SIGUSR1:
    case SIGUSR2:
      ranks_->signal(signal);
      break;
    case SIGTSTP:
      stop_and_continue();
      break;
    case SIGCONT:
      ranks_->signal(SIGCONT);
      if (input_) input_->resume();
      break;
    default:
      on_end_request(signal);
  }
}

// The first is for the ranks to answer; who asks again does not want to wait for that.
void supervisor::on_end_request(int signal) {
  ++end_requests_;
  end_signal_ = signal;
  if (end_requests_ == 1) return ranks_->signal(signal);
  if (status_ == 0) status_ = 128 + signal;
  if (end_requests_ == 2 && !ending_) return end_job();
  ranks_->signal(SIGKILL);
}

void supervisor::stop_and_continue() {
  ranks_->signal(SIGSTOP);
  raise(SIGSTOP);  // SIGCONT arrives as an event
}

void supervisor::rank_ended(const rank_end& end) {
  if (end.rank == 0 && input_) input_->stop();
  if (shell_status(end.wait_status) != 0 && !ending_) report_failure(end);
  if (options_.straggler_s == 0 || !WIFEXITED(end.wait_status)) return;
  const bool was_half = 2 * exited_ >= options_.ranks;
  if (2 * ++exited_ >= options_.ranks && !was_half)
    loop_.after(static_cast<std::uint64_t>(options_.straggler_s) * 1000,
                [this] { end_stragglers(); });
}

void supervisor::end_stragglers() {
  if (ending_ || ranks_->all_gone()) return;
  say(output_.errors(),
      "{} of {} ranks, stopped perhaps, had not ended {} s after the others: ending them",
      ranks_->running(), options_.ranks, options_.straggler_s);
  end_job();
}

/// What a rank that explains itself ends with tells more than that others, or their host, are lost.
void supervisor::report_failure(const rank_end& end) {
  const bool explained = options_.ranks_explain && WIFEXITED(end.wait_status);
  if (status_ == 0 || (explained && !explained_)) {
    status_ = shell_status(end.wait_status);
    explained_ = explained;
  }
  const bool end_others = ranks_->running() > 0 && !options_.keep_going;
  if (!options_.ranks_explain || WIFSIGNALED(end.wait_status)) {
    const std::string on = end.host.empty() ? "" : " on " + end.host;
    say(output_.errors(), "rank {}{} ({}, process {}) {}{}", end.rank, on, program_of(end.rank),
        end.process, describe_end(end.wait_status), end_others ? "; ending the other ranks" : "");
  }
  if (end_others) end_job();
}

// Whether or not the others were to go on when one fails.
void supervisor::abort(int rank, int status, const std::string& why) {
  if (ending_) return;
  if (status_ == 0) status_ = status;
  say(output_.errors(), "rank {} ends the job with status {}{}{}", rank, status,
      why.empty() ? "" : ": ", why);
  end_job();
}

void supervisor::end_job() {
  if (std::exchange(ending_, true)) return;
  ranks_->signal(SIGTERM);
  ranks_->signal(SIGCONT);  // a stopped one would not notice
  loop_.after(grace_ms, [this] { ranks_->signal(SIGKILL); });
  loop_.after(grace_ms + give_up_ms, [this] { ranks_->abandon(); });
}

// Whoever reads our output may be slow; who has asked for an end does not wait for that long.
void supervisor::drain_output() {
  ranks_->finish_output();
  const int requests = end_requests_;
  bool patient = true;
  if (requests > 0) loop_.after(grace_ms, [&patient] { patient = false; });
  while (!output_.empty() && patient && end_requests_ == requests) loop_.run_once();
}

// A rank that had ended before its output was found to go nowhere did not learn of it.
int supervisor::status_with_output() const {
  const bool unread = !output_.empty();  // for an end was asked for
  if (status_ == 0 && unread) return 128 + end_signal_;
  const int problem = output_.problem();
  if (status_ != 0 || problem == 0 || !output_.relays()) return status_;
  return problem == EPIPE ? 128 + SIGPIPE : failed;
}

}  // namespace heddle::tools
