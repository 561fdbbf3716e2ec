// SPDX-License-Identifier: BSD-3-Clause
#include "run/crew.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "exit_status.h"
#include "run/failure.h"
#include "run/job_environment.h"

namespace heddle::tools {

namespace protocol = bootstrap::protocol;

namespace {

constexpr std::uint64_t grace_ms = 2000;    ///< between SIGTERM and SIGKILL
constexpr std::uint64_t give_up_ms = 1000;  ///< after SIGKILL, for what even that does not end

// Orphans of a rank become ours to reap, so that the end of its process group is seen at once.
int become_subreaper() {
  int before = 0;
  prctl(PR_GET_CHILD_SUBREAPER, &before);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  return before;
}

}  // namespace

crew::crew(const host_process& here, meeting_place& meetings, group_owner& owner,
           crew_orders orders)
    : here_(here),
      owner_(owner),
      orders_(std::move(orders)),
      was_subreaper_(become_subreaper()),
      boot_(here.loop, {orders_.job_size, static_cast<int>(orders_.ranks.size())}, orders_.secret,
            meetings) {
  no_input_.reset(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!no_input_) fail_errno(errno, "open /dev/null");
}

crew::~crew() {
  prctl(PR_SET_CHILD_SUBREAPER, was_subreaper_);
}

void crew::start() {
  if (!find_programs()) return;
  bind();
  unstarted_ = orders_.ranks.size();
  start_next();
}

/// One rank in each turn of the loop. A thousand take seconds, in which signals, output and the
/// ranks that are there already want to be served.
void crew::start_next() {
  if (unstarted_ == 0) return;
  const std::size_t place = orders_.ranks.size() - unstarted_;
  try {
    unstarted_ = start(place) ? unstarted_ - 1 : 0;
  } catch (const error& e) {
    unstarted_ = 0;
    const std::string where = orders_.host.empty() ? "" : orders_.host + ": ";
    owner_.cannot_start(failed, fmt::format("{}start rank {} of {}: {}", where,
                                            orders_.ranks[place], orders_.job_size, e.what()));
  }
  here_.loop.after(0, [this] { start_next(); });
}

bool crew::find_programs() {
  const std::string path = path_in(orders_.environment);
  const std::string on = orders_.host.empty() ? "" : " on " + orders_.host;
  for (const auto& words : orders_.commands) {
    int problem = 0;
    paths_.push_back(find_program(words.front(), path, problem));
    if (!paths_.back().empty()) continue;
    owner_.cannot_start(
        problem == ENOENT ? 127 : 126,
        fmt::format("cannot run {}{}: {}", words.front(), on,
                    problem == ENOENT ? "no such program" : strerrordesc_np(problem)));
    return false;
  }
  return true;
}

// What this process may use itself is all there is: a set of CPUs, or what another launcher bound.
void crew::bind() {
  if (orders_.bind.what == binding::unit::none) return;
  auto plan = plan_binding(orders_.bind, look_at_machine(allowed_cpus()),
                           static_cast<int>(orders_.ranks.size()));
  cpus_ = std::move(plan.cpus);
  if (orders_.bind.asked && !plan.problem.empty()) owner_.remark(orders_.host, plan.problem);
}

bool crew::start(std::size_t place) {
  const int rank = orders_.ranks[place];
  const unique_fd boot = boot_.add_rank(rank);
  placement where = placement_of(rank);
  where.boot = boot.get();
  const command what = command_of(place, boot.get());
  const started child = start_rank(
      what, where, {.signals = here_.signals, .guard = guard_, .open_files = here_.limits.found()});
  for (auto& output : outputs_) output->started();  // our copies would keep the pipes open
  if (rank == 0 && input_) input_->started();
  files_.clear();
  if (child.exec_error == 0) {
    ranks_.push_back({rank, child.pid});
    for (const int missed : signals_so_far_) kill(-child.pid, missed);
    owner_.rank_started(rank, child.pid, orders_.host);
    return true;
  }
  guard_.forget(child.pid);
  owner_.cannot_start(
      child.exec_error == ENOENT ? 127 : 126,
      fmt::format("cannot run {}: {}", what.path, strerrordesc_np(child.exec_error)));
  return false;
}

command crew::command_of(std::size_t place, int boot_fd) const {
  const auto index = static_cast<std::size_t>(orders_.command_of[place]);
  command own{paths_[index], orders_.commands[index], orders_.environment};
  own.environment.push_back(fmt::format("{}={}", protocol::fd_variable, boot_fd));
  own.environment.push_back(fmt::format("{}={}", protocol::rank_variable, orders_.ranks[place]));
  own.environment.push_back(fmt::format("{}={}", protocol::size_variable, orders_.job_size));
  return own;
}

void crew::print_into_files(int rank, placement& where) {
  if (mkdir(orders_.output_folder.c_str(), 0777) != 0 && errno != EEXIST)
    fail_errno(errno, "make the folder " + orders_.output_folder);
  for (const char* ending : {"out", "err"}) {
    const std::string file = fmt::format("{}/rank-{}.{}", orders_.output_folder, rank, ending);
    files_.emplace_back(open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (!files_.back()) fail_errno(errno, "write " + file);
  }
  where.output = files_[0].get();
  where.errors = files_[1].get();
}

placement crew::placement_of(int rank) {
  placement where;
  if (rank != 0) where.input = no_input_.get();
  if (rank == 0 && orders_.feeds_first) {
    input_.emplace(here_.loop, [this] { owner_.wants_input(); });
    where.input = input_->read_end();
  }
  if (!cpus_.empty()) where.cpus = cpus_[ranks_.size()];
  if (!orders_.output_folder.empty()) print_into_files(rank, where);
  if (!orders_.output_folder.empty() || orders_.output == nullptr) return where;
  const std::string prefix = orders_.prefix ? fmt::format("[{}] ", rank) : "";
  outputs_.push_back(std::make_unique<rank_output>(here_.loop, *orders_.output, prefix));
  where.output = outputs_.back()->write_end();
  outputs_.push_back(std::make_unique<rank_output>(here_.loop, *orders_.errors, prefix));
  where.errors = outputs_.back()->write_end();
  return where;
}

void crew::reap(const std::vector<ended_child>& ended) {
  for (const ended_child& child : ended) {
    const auto found = std::find_if(ranks_.begin(), ranks_.end(), [&](const rank_state& r) {
      return r.pid == child.process && r.at == stage::running;
    });
    if (found != ranks_.end()) rank_ended(*found, child.wait_status);
  }
  for (rank_state& r : ranks_) check_leftovers(r);
}

void crew::rank_ended(rank_state& r, int wait_status) {
  const std::string on = orders_.host.empty() ? "" : " on " + orders_.host;
  boot_.process_ended(r.rank, fmt::format("rank {}{} {}", r.rank, on, describe_end(wait_status)));
  r.at = stage::leftovers;
  clear_leftovers(r);
  owner_.rank_ended({r.rank, r.pid, wait_status, orders_.host});
}

void crew::clear_leftovers(rank_state& r) {
  check_leftovers(r);
  if (r.at == stage::gone) return;
  kill(-r.pid, SIGTERM);
  kill(-r.pid, SIGCONT);
  const auto index = static_cast<std::size_t>(&r - ranks_.data());
  here_.loop.after(grace_ms, [this, index] {
    check_leftovers(ranks_[index]);
    if (ranks_[index].at != stage::gone) kill(-ranks_[index].pid, SIGKILL);
  });
  here_.loop.after(grace_ms + give_up_ms, [this, index] { ranks_[index].at = stage::gone; });
}

void crew::check_leftovers(rank_state& r) {
  if (r.at != stage::leftovers || kill(-r.pid, 0) == 0) return;
  r.at = stage::gone;
  guard_.forget(r.pid);
}

/// Ranks that are still to be started get it when they are; nobody wants more of them killed.
void crew::signal(int signal) {
  if (signal == SIGKILL) unstarted_ = 0;
  if (unstarted_ > 0) signals_so_far_.push_back(signal);
  for (const rank_state& r : ranks_)
    if (r.at != stage::gone) kill(-r.pid, signal);
}

void crew::input(std::string_view piece) {
  if (!input_) return;
  if (piece.empty()) return input_->end();
  input_->write(piece);
}

int crew::running() const {
  const auto started = std::count_if(ranks_.begin(), ranks_.end(),
                                     [](const rank_state& r) { return r.at == stage::running; });
  return static_cast<int>(started) + static_cast<int>(unstarted_);
}

bool crew::all_gone() const {
  return unstarted_ == 0 && std::all_of(ranks_.begin(), ranks_.end(),
                                        [](const rank_state& r) { return r.at == stage::gone; });
}

void crew::deliver(const std::vector<meeting_rounds::reply>& replies) {
  for (const auto& reply : replies) boot_.deliver(reply);
}

void crew::finish_output() {
  for (auto& output : outputs_) output->finish();
}

}  // namespace heddle::tools
