// SPDX-License-Identifier: BSD-3-Clause
// command.cpp - `heddle linktest`: a rank inside a job, the starter of one outside.
#include "linktest/simulate/command.h"

#include <fmt/format.h>
#include <heddle/status.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>

#include "linktest/draw/terminal.h"
#include "linktest/options.h"
#include "linktest/plan/dry_run.h"
#include "linktest/plan/halves.h"
#include "linktest/rank_main.h"
#include "linktest/results/machine_facts.h"
#include "linktest/results/output.h"
#include "linktest/results/unfinished.h"
#include "linktest/resumption.h"
#include "run/host_options.h"
#include "run/launcher.h"
#include "standard_output.h"
#include "subcommand.h"

namespace heddle::tools {
namespace {

using linktest::halves_choice;
using linktest::options;

static_assert(linktest::max_ranks == most_ranks);

/// Removes an empty directory that was not there before, whatever happened to the ranks. Without a
/// path it makes a new one: path().
class leave_no_empty_directory {
 public:
  explicit leave_no_empty_directory(std::string path)
      : was_there_(!path.empty() && std::filesystem::exists(path)),
        path_(path.empty() ? linktest::claim_directory() : std::move(path)) {}
  ~leave_no_empty_directory() {
    if (!was_there_) ::rmdir(path_.c_str());
  }
  leave_no_empty_directory(const leave_no_empty_directory&) = delete;
  leave_no_empty_directory& operator=(const leave_no_empty_directory&) = delete;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  bool was_there_;
  std::string path_;
};

/// A rank that was killed leaves pairs unmeasured, which is what the status should say; a request
/// to end stays one, and so does output that nobody has read to the end.
int status_of_job(int status) {
  constexpr int by_signal = 128;
  const bool told = status == by_signal + SIGINT || status == by_signal + SIGTERM ||
                    status == by_signal + SIGPIPE;
  return status > by_signal && !told ? linktest::incomplete : status;
}

/// What is wrong with options together that are right alone.
void refuse_contradictions(const options& chosen) {
  using how = halves_choice::how;
  if (chosen.halves.what == how::by_group && chosen.search.groups.empty())
    throw usage_error("--bisection groups: give --groups FILE, which says which hosts are in one");
  if (!chosen.search.simulate.empty() && !chosen.search.groups.empty())
    throw usage_error(
        "--groups: simulated hosts have no names, and the network's form says who is near whom: "
        "leave it out");
  if (chosen.halves.what == how::given && chosen.ranks != 0)
    if (const std::string why = linktest::halves::problem_with(chosen.halves, chosen.ranks);
        !why.empty())
      throw usage_error(why);
  const bool judges = !chosen.search.expect.empty() || !chosen.search.baseline.empty();
  if (!chosen.search.simulate.empty() &&
      (judges || chosen.search.time_s > 0 || chosen.kernels.size() > 1))
    throw usage_error(
        "--simulate tries the diagnosis, of one kernel: leave out --expect, --baseline and --time");
  if (!chosen.search.dry_run || chosen.ranks == 0) return;
  if (chosen.halves.what == how::by_group)
    throw usage_error("--dry-run does not know the hosts' names: give --bisection hosts or first");
  if (chosen.halves.what == how::by_host && chosen.ranks <= chosen.search.ranks_per_host)
    throw usage_error(
        "--bisection hosts: all ranks are on one host: give a larger -n or a smaller "
        "--ranks-per-host");
}

/// A plan or a simulation needs no ranks; nothing when ranks are to be started.
std::optional<int> without_ranks(const options& chosen) {
  const bool made_up = chosen.search.dry_run || !chosen.search.simulate.empty();
  if (!made_up) {
    if (!chosen.search.faults.empty())
      throw usage_error("--faults is for --simulate; for real ranks there is HEDDLE_FAULTS");
    if (chosen.ranks > linktest::max_ranks)
      throw usage_error(
          fmt::format("-n {}: at most {} ranks can be started; --dry-run and --simulate take more",
                      chosen.ranks, linktest::max_ranks));
    return std::nullopt;
  }
  if (chosen.ranks == 0) throw usage_error("--dry-run and --simulate need -n N");
  if (!chosen.search.dry_run) return linktest::simulate(chosen);
  print(linktest::describe_cost(chosen));
  return linktest::success;
}

/// Whether an option of linktest's own may stand beside --resume.
bool goes_with_resume(const std::string& name) {
  constexpr std::array may{"--resume", "--ranks", "--typed",    "--color",
                           "--quiet",  "--width", "--no-color", "--progress"};
  return std::find(may.begin(), may.end(), name) != may.end();
}

/// The options are those of the run that is gone on with.
void refuse_others_with_resume(const CLI::App& given) {
  options scratch;
  CLI::App own;
  linktest::declare_options(own, scratch);
  for (const CLI::Option* each : own.get_options()) {
    const std::string name = each->get_single_name();
    const CLI::Option* const here = given.get_option_no_throw("--" + name);
    if (here != nullptr && here->count() > 0 && !goes_with_resume("--" + name))
      throw usage_error(fmt::format(
          "--resume goes on with the options of the run: leave out --{}, or begin anew", name));
  }
}

options gone_on_with_here(const options& now) {
  options then = gone_on_with(linktest::read_unfinished(now.resume), now);
  if (now.ranks != 0 && now.ranks != then.ranks)
    throw usage_error(fmt::format("--resume {}: that run has {} ranks, not {}: leave out -n",
                                  now.resume, then.ranks, now.ranks));
  return then;
}

int start_job(options chosen, const host_options& hosts, const binding& bind) {
  if (chosen.ranks == 0 && !hosts.given()) {
    complain(
        "heddle linktest: how many ranks? Give -n N or --hosts, or start it inside a job of "
        "several: "
        "heddle run -n N -- heddle linktest, or mpirun -n N heddle linktest, or srun\n");
    return linktest::bad_usage;
  }
  chosen = linktest::resolve_terminal(std::move(chosen));
  const leave_no_empty_directory guard(chosen.output);
  chosen.output = guard.path();
  chosen.typed = linktest::command_of_process();
  launch_options job;
  take_hosts(hosts, chosen.ranks == 0 ? std::nullopt : std::optional(chosen.ranks), job);
  if (hosts.given()) chosen.ranks = job.ranks;
  job.ranks = chosen.ranks;
  job.program = std::filesystem::read_symlink("/proc/self/exe").string();
  job.arguments = linktest::to_arguments(chosen);
  job.keep_going = true;  // the others still have links to measure
  job.ranks_explain = true;
  job.straggler_s = static_cast<int>(std::ceil(chosen.timeout_s)) + 1;
  job.bind = bind;
  if (!job.hosts.empty() && !job.way.heddle.empty()) job.program = job.way.heddle;
  const int status = status_of_job(launch(job));
  if (linktest::is_unfinished(chosen.output))
    complain(
        fmt::format("heddle linktest: not all was measured: heddle linktest --resume {} goes on\n",
                    chosen.output));
  return status;
}

}  // namespace

void add_linktest(CLI::App& app, int& exit_code) {
  auto chosen = std::make_shared<options>();
  CLI::App* command = app.add_subcommand("linktest");
  linktest::declare_options(*command, *chosen);
  auto hosts = std::make_shared<host_options>();
  add_host_options(*command, *hosts);
  auto bind = std::make_shared<binding>();
  add_bind_option(*command, *bind);
  command->callback([command, chosen, hosts, bind, &exit_code] {
    const bool rank = inside_job();
    if (rank && bind->asked)
      throw usage_error(
          "--bind is for ranks that linktest starts: give it to what started this job");
    if (!chosen->resume.empty() && chosen->typed.empty()) {
      refuse_others_with_resume(*command);
      if (rank) {
        exit_code = linktest::resume_rank(*chosen);
        return;
      }
      *chosen = gone_on_with_here(*chosen);
    }
    refuse_contradictions(*chosen);
    if (const auto done = without_ranks(*chosen)) {
      exit_code = *done;
      return;
    }
    exit_code = rank ? linktest::run_rank(*chosen) : start_job(*chosen, *hosts, *bind);
  });
}

}  // namespace heddle::tools
