// SPDX-License-Identifier: BSD-3-Clause
#include "run/host_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <fstream>
#include <iterator>

#include "exit_status.h"
#include "run/failure.h"

namespace heddle::tools {
namespace {

std::string read_hostfile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) throw usage_error(fmt::format("--hostfile {}: cannot be read", path));
  return text;
}

/// For what a script makes of a variable that is not set: the job must not run here instead.
std::string not_empty(const std::string& text) {
  return text.empty() ? "it names no host: write HOST:N,HOST:N or a file's name, or leave it out"
                      : std::string();
}

}  // namespace

void add_host_options(CLI::App& app, host_options& into) {
  CLI::Option* const list =
      app.add_option("--hosts", into.hosts,
                     "Start on these hosts, so many ranks on each: a:4,b:4 or n[1-3,7]:4")
          ->type_name("HOST:N,...")
          ->check(CLI::Validator(not_empty, ""));
  app.add_option("--hostfile", into.hostfile,
                 "The same from a file, as OpenMPI (HOST slots=N) or MPICH (HOST:N) read it")
      ->type_name("FILE")
      ->check(CLI::Validator(not_empty, ""))
      ->excludes(list);
  app.add_option("--starter", into.starter,
                 "What runs a command on a host, as: CMD HOST COMMAND (default: ssh)")
      ->type_name("CMD");
  app.add_option("--remote-heddle", into.heddle,
                 "Where this program is on the hosts (default: where it is here)")
      ->type_name("PATH");
  app.add_option("--workdir", into.directory,
                 "Where ranks on hosts begin (default: this directory, which must be there)")
      ->type_name("DIR");
  app.add_option("--fanout", into.fanout,
                 "Most hosts that the launcher, or an agent for it, starts agents on itself")
      ->type_name("N")
      ->check(CLI::Range(1, 4096))
      ->default_str(std::to_string(reach{}.fanout));
  app.add_option("--silence-limit", into.silence_s,
                 "Seconds without a sign of life after which a host is lost; 0: never")
      ->type_name("S")
      ->check(CLI::Range(0, 86'400))
      ->default_str(std::to_string(reach{}.silence_s));
}

void add_bind_option(CLI::App& app, binding& into) {
  const auto take = [&into](const std::string& text) -> std::string {
    try {
      into = parse_binding(text);
      into.asked = true;
      return {};
    } catch (const usage_error& problem) {
      return problem.what();
    }
  };
  app.add_option_function<std::string>(
         "--bind", [](const std::string&) {},
         "What each rank is bound to: its share of the cores (core) or of these CPUs (0,4-7) of "
         "its host, a NUMA node (numa), or nothing (none)")
      ->check(CLI::Validator(take, ""))
      ->type_name("core|numa|none|0,2-3")
      ->default_str(text_of(into));
}

void take_hosts(const host_options& given, std::optional<int> ranks, launch_options& job,
                placing order) {
  const bool others = !given.starter.empty() || !given.heddle.empty() || !given.directory.empty() ||
                      given.fanout || given.silence_s;
  if (!given.given()) {
    if (others)
      throw usage_error(
          "--starter, --remote-heddle, --workdir, --fanout and --silence-limit need --hosts or "
          "--hostfile");
    return;
  }
  const auto hosts = given.hosts.empty()
                         ? parse_hostfile(read_hostfile(given.hostfile), given.hostfile)
                         : parse_hosts(given.hosts);
  job.hosts = place_ranks(hosts, ranks, order);
  job.ranks = 0;
  for (const host_ranks& host : job.hosts) job.ranks += static_cast<int>(host.ranks.size());
  if (!given.starter.empty()) job.way.starter = CLI::detail::split_up(given.starter);
  job.way.heddle = given.heddle;
  job.way.directory = given.directory;
  job.way.silence_s = given.silence_s.value_or(job.way.silence_s);
  job.way.fanout = given.fanout.value_or(job.way.fanout);
}

std::string places_of(const launch_options& job) {
  std::vector<std::string> places;
  for (const host_ranks& host : job.hosts)
    places.push_back(fmt::format("{} {} on {}", host.ranks.size() == 1 ? "rank" : "ranks",
                                 fmt::join(host.ranks, ","), host.name));
  return fmt::format("{}", fmt::join(places, ", "));
}

}  // namespace heddle::tools
