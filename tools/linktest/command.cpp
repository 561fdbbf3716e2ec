// command.cpp - `heddle linktest`: a rank inside a job, the starter of one outside.
#include <heddle/status.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>

#include "linktest/options.h"
#include "linktest/rank_main.h"
#include "linktest/terminal.h"
#include "run/host_options.h"
#include "run/launcher.h"
#include "standard_output.h"
#include "subcommand.h"

namespace heddle::tools {
namespace {

using linktest::options;

static_assert(linktest::max_ranks == most_ranks);

/// Removes an empty directory that was not there before, whatever happened to the ranks.
class leave_no_empty_directory {
 public:
  explicit leave_no_empty_directory(std::string path)
      : path_(std::move(path)), was_there_(std::filesystem::exists(path_)) {}
  ~leave_no_empty_directory() {
    if (!was_there_) ::rmdir(path_.c_str());
  }
  leave_no_empty_directory(const leave_no_empty_directory&) = delete;
  leave_no_empty_directory& operator=(const leave_no_empty_directory&) = delete;

 private:
  std::string path_;
  bool was_there_;
};

/// A rank that was killed leaves pairs unmeasured, which is what the status should say; a request
/// to end stays one, and so does output that nobody has read to the end.
int status_of_job(int status) {
  constexpr int by_signal = 128;
  const bool told = status == by_signal + SIGINT || status == by_signal + SIGTERM ||
                    status == by_signal + SIGPIPE;
  return status > by_signal && !told ? linktest::incomplete : status;
}

int start_job(options chosen, const host_options& hosts, const binding& bind) {
  if (chosen.ranks == 0 && !hosts.given()) {
    complain(
        "heddle linktest: how many ranks? Give -n N or --hosts, or start it inside a job: "
        "heddle run -n N -- heddle linktest\n");
    return linktest::bad_usage;
  }
  chosen = linktest::resolve_terminal(std::move(chosen));
  if (chosen.output.empty()) chosen.output = linktest::default_output();
  const leave_no_empty_directory guard(chosen.output);
  launch_options job;
  take_hosts(hosts, chosen.ranks == 0 ? std::nullopt : std::optional(chosen.ranks), job);
  if (hosts.given()) chosen.ranks = job.ranks;
  job.ranks = chosen.ranks;
  job.program = std::filesystem::read_symlink("/proc/self/exe").string();
  job.arguments = linktest::to_arguments(chosen);
  job.keep_going = true;  // the others still have links to measure
  job.ranks_explain = true;
  job.bind = bind;
  if (!job.hosts.empty() && !job.way.heddle.empty()) job.program = job.way.heddle;
  return status_of_job(launch(job));
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
  command->callback([chosen, hosts, bind, &exit_code] {
    const bool rank = inside_job();
    if (rank && bind->asked)
      throw usage_error(
          "--bind is for ranks that linktest starts: give it to what started this job");
    exit_code = rank ? linktest::run_rank(*chosen) : start_job(*chosen, *hosts, *bind);
  });
}

}  // namespace heddle::tools
