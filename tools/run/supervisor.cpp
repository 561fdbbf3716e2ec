#include "run/supervisor.h"

#include <fcntl.h>
#include <signal.h>
#include <sodium.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "exit_status.h"
#include "run/failure.h"

namespace heddle::tools {

namespace protocol = bootstrap::protocol;

namespace {

constexpr std::uint64_t grace_ms = 2000;      ///< between SIGTERM and SIGKILL
constexpr std::uint64_t give_up_ms = 1000;    ///< after SIGKILL, for what even that does not end
constexpr rlim_t plenty_of_files = 1u << 20;  ///< four per rank are needed

std::array<std::byte, 32> make_secret() {
  if (sodium_init() < 0) throw error("make the job's secret: libsodium finds no randomness");
  std::array<std::byte, 32> secret;
  randombytes_buf(secret.data(), secret.size());
  return secret;
}

rlimit raise_open_files() {
  rlimit found{};
  if (getrlimit(RLIMIT_NOFILE, &found) != 0) fail_errno(errno, "read the open files limit");
  const rlimit more{std::max(found.rlim_cur, std::min(found.rlim_max, plenty_of_files)),
                    found.rlim_max};
  setrlimit(RLIMIT_NOFILE, &more);  // else: whoever runs out says so
  return found;
}

// Orphans of a rank become ours to reap, so that the end of its process group is seen at once.
int become_subreaper() {
  int before = 0;
  prctl(PR_GET_CHILD_SUBREAPER, &before);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  return before;
}

}  // namespace

supervisor::supervisor(const launch_options& options, command program)
    : options_(options),
      program_(std::move(program)),
      open_files_(raise_open_files()),
      was_subreaper_(become_subreaper()) {
  boot_.emplace(loop_, options_.ranks, make_secret());
  if (options_.bind == binding::core) cpus_ = allowed_cpus();
  if (isatty(STDIN_FILENO)) relay_.emplace(loop_);
  no_input_.reset(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!no_input_) fail_errno(errno, "open /dev/null");
  loop_.watch(signals_.fd(), EPOLLIN, [this] { on_signal(); });
}

supervisor::~supervisor() {
  prctl(PR_SET_CHILD_SUBREAPER, was_subreaper_);
  setrlimit(RLIMIT_NOFILE, &open_files_);
}

int supervisor::run() {
  std::string problem;
  try {
    start_ranks();
  } catch (const error& e) {
    problem = e.what();
    end_job();
  }
  while (!all_gone()) loop_.run_once();
  drain_output();
  if (!problem.empty())
    throw error(fmt::format("start rank {} of {}: {}", ranks_.size(), options_.ranks, problem));
  return status_with_output();
}

void supervisor::start_ranks() {
  for (int rank = 0; rank < options_.ranks; ++rank)
    if (!start(rank)) return end_job();
}

bool supervisor::start(int rank) {
  const unique_fd boot = boot_->add_rank(rank);
  placement where = placement_of(rank);
  where.boot = boot.get();
  const started child =
      start_rank(command_of(rank, boot.get()), where,
                 {.signals = signals_, .guard = guard_, .open_files = open_files_});
  let_go(rank);
  if (child.exec_error == 0) {
    boot_->process_started(rank, child.pid);
    ranks_.push_back({rank, child.pid});
    return true;
  }
  guard_.forget(child.pid);
  status_ = child.exec_error == ENOENT ? 127 : 126;
  say("cannot run {}: {}", program_.path, strerrordesc_np(child.exec_error));
  return false;
}

command supervisor::command_of(int rank, int boot_fd) const {
  command own = program_;
  own.environment.push_back(fmt::format("{}={}", protocol::fd_variable, boot_fd));
  own.environment.push_back(fmt::format("{}={}", protocol::rank_variable, rank));
  own.environment.push_back(fmt::format("{}={}", protocol::size_variable, options_.ranks));
  return own;
}

placement supervisor::placement_of(int rank) {
  placement where;
  if (rank != 0)
    where.input = no_input_.get();
  else if (relay_)
    where.input = relay_->read_end();
  if (!cpus_.empty()) where.cpu = cpus_[static_cast<std::size_t>(rank) % cpus_.size()];
  if (!options_.prefix) return where;
  outputs_.push_back(std::make_unique<rank_output>(loop_, out_, rank));
  where.output = outputs_.back()->write_end();
  outputs_.push_back(std::make_unique<rank_output>(loop_, errors_, rank));
  where.errors = outputs_.back()->write_end();
  return where;
}

// The rank has its copies of what it stands on; ours would keep pipes open.
void supervisor::let_go(int rank) {
  if (rank == 0 && relay_) relay_->started();
  for (auto& output : outputs_) output->started();
}

void supervisor::on_signal() {
  switch (const int signal = signals_.take()) {
    case 0:
      break;
    case SIGCHLD:
      reap();
      break;
    case SIGUSR1:
    case SIGUSR2:
      signal_ranks(signal);
      break;
    case SIGTSTP:
      stop_and_continue();
      break;
    case SIGCONT:
      signal_ranks(SIGCONT);
      if (relay_) relay_->resume();
      break;
    default:
      on_end_request(signal);
  }
}

// The first is for the ranks to answer; who asks again does not want to wait for that.
void supervisor::on_end_request(int signal) {
  ++end_requests_;
  if (end_requests_ == 1) return signal_ranks(signal);
  if (status_ == 0) status_ = 128 + signal;
  if (end_requests_ == 2 && !ending_) return end_job();
  signal_ranks(SIGKILL);
}

void supervisor::stop_and_continue() {
  signal_ranks(SIGSTOP);
  raise(SIGSTOP);  // SIGCONT arrives as an event
}

void supervisor::reap() {
  for (;;) {
    int wait_status = 0;
    const pid_t pid = waitpid(-1, &wait_status, WNOHANG);
    if (pid < 0 && errno == EINTR) continue;
    if (pid <= 0) break;
    const auto running = [&](const rank_state& r) {
      return r.pid == pid && r.at == stage::running;
    };
    const auto found = std::find_if(ranks_.begin(), ranks_.end(), running);
    if (found != ranks_.end()) rank_ended(*found, wait_status);
  }
  for (rank_state& r : ranks_) check_leftovers(r);
}

void supervisor::rank_ended(rank_state& r, int wait_status) {
  boot_->process_ended(r.rank, fmt::format("rank {} {}", r.rank, describe_end(wait_status)));
  r.at = stage::leftovers;
  clear_leftovers(r);
  if (exit_status(wait_status) != 0 && !ending_) report_failure(r, wait_status);
}

void supervisor::report_failure(const rank_state& r, int wait_status) {
  if (status_ == 0) status_ = exit_status(wait_status);
  const bool others = std::any_of(ranks_.begin(), ranks_.end(),
                                  [](const rank_state& o) { return o.at == stage::running; });
  const bool end_others = others && !options_.keep_going;
  if (!options_.ranks_explain || WIFSIGNALED(wait_status))
    say("rank {} ({}, process {}) {}{}", r.rank, options_.program, r.pid, describe_end(wait_status),
        end_others ? "; ending the other ranks" : "");
  if (end_others) end_job();
}

void supervisor::clear_leftovers(rank_state& r) {
  check_leftovers(r);
  if (r.at == stage::gone) return;
  kill(-r.pid, SIGTERM);
  kill(-r.pid, SIGCONT);
  const auto index = static_cast<std::size_t>(&r - ranks_.data());
  loop_.after(grace_ms, [this, index] {
    check_leftovers(ranks_[index]);
    if (ranks_[index].at != stage::gone) kill(-ranks_[index].pid, SIGKILL);
  });
  loop_.after(grace_ms + give_up_ms, [this, index] { ranks_[index].at = stage::gone; });
}

void supervisor::check_leftovers(rank_state& r) {
  if (r.at != stage::leftovers || kill(-r.pid, 0) == 0) return;
  r.at = stage::gone;
  guard_.forget(r.pid);
}

void supervisor::end_job() {
  if (std::exchange(ending_, true)) return;
  signal_ranks(SIGTERM);
  signal_ranks(SIGCONT);  // a stopped one would not notice
  loop_.after(grace_ms, [this] { signal_ranks(SIGKILL); });
}

void supervisor::signal_ranks(int signal) const {
  for (const rank_state& r : ranks_)
    if (r.at != stage::gone) kill(-r.pid, signal);
}

bool supervisor::all_gone() const {
  return std::all_of(ranks_.begin(), ranks_.end(),
                     [](const rank_state& r) { return r.at == stage::gone; });
}

// Whoever reads our output may be slow; who has asked for an end does not wait for that long.
void supervisor::drain_output() {
  for (auto& output : outputs_) output->finish();
  const int requests = end_requests_;
  bool patient = true;
  if (requests > 0) loop_.after(grace_ms, [&patient] { patient = false; });
  while (!(out_.empty() && errors_.empty()) && patient && end_requests_ == requests)
    loop_.run_once();
}

// A rank that had ended before its output was found to go nowhere did not learn of it.
int supervisor::status_with_output() const {
  const int problem = out_.problem() != 0 ? out_.problem() : errors_.problem();
  if (status_ != 0 || problem == 0) return status_;
  return problem == EPIPE ? 128 + SIGPIPE : failed;
}

}  // namespace heddle::tools
