// SPDX-License-Identifier: BSD-3-Clause
// command.cpp - options that several benchmarks have.
#include "contenders/command.h"

#include <fmt/core.h>
#include <heddle/info.h>
#include <unistd.h>

#include <cstdlib>

#include "libraries/station.h"

namespace heddle::bench {
namespace {

/// "4M" becomes "4194304". Returns what is wrong with it; empty: nothing.
std::string take_size(std::string& text) {
  constexpr std::uint64_t most = std::uint64_t{1} << 30;
  const std::string given = text;
  try {
    std::uint64_t bytes = 0;
    if (CLI::AsSizeValue(false)(text).empty() && CLI::detail::lexical_cast(text, bytes) &&
        bytes <= most)
      return {};
  } catch (const CLI::ValidationError&) {  // said below in our words
  }
  return fmt::format("'{}' is not a message size; give 0 to 1G, such as 8, 1K or 4M", given);
}

}  // namespace

void add_sizes(CLI::App& app, std::vector<std::uint64_t>& into,
               const std::vector<std::uint64_t>& unless_given) {
  into = unless_given;
  app.add_option("--sizes", into, "bytes, such as 8,1K,4M")
      ->delimiter(',')
      ->transform(CLI::Validator(take_size, ""))
      ->capture_default_str();
}

void add_rounds(CLI::App& app, int& rounds, std::chrono::milliseconds& time) {
  app.add_option("--rounds", rounds, "rounds, each of everybody in turn")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  const auto set = [&time](int ms) { time = std::chrono::milliseconds(ms); };
  app.add_option_function<int>("--time-ms", set, "length of one round of one contender")
      ->check(CLI::Range(1, 60'000))
      ->default_str(std::to_string(time.count()));
}

void add_job(CLI::App& app, options& o) {
  std::vector<std::string> backends = list_backends();
  backends.insert(backends.begin(), "auto");
  app.add_option("--backend", o.backend, "wire; an error when the ranks are not connected so")
      ->check(CLI::IsMember(backends))
      ->capture_default_str();
  app.add_option("--ranks", o.ranks, "ranks to launch, or that the job must have")
      ->check(CLI::Range(2, 1024))
      ->capture_default_str();
  tools::add_bind_option(app, o.bind);
  app.add_flag("--free-executors,!--tied-executors", o.free_executors,
               "let Heddle's own threads run where the system puts them, not on the cores of the "
               "threads that measure");
  add_rounds(app, o.rounds, o.base.time);
  app.add_option("--json", o.json_file, "write an array of records");
  tools::add_host_options(app, o.hosts);
}

void add_thread_counts(CLI::App& app, options& o) {
  app.add_option("--threads", o.thread_counts,
                 "threads per rank, such as 4, or 1,2,4: each of them in every round")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(1, max_threads))
      ->capture_default_str();
}

void add_lanes(CLI::App& app, options& o) {
  int& lanes = o.base.lanes;
  CLI::Option* const some =
      app.add_option("--lanes", lanes,
                     "lanes per rank, each shared by neighbouring threads (default: a lane for "
                     "each thread)")
          ->check(CLI::Range(1, max_threads));
  CLI::Option* const one = app.add_flag_callback(
      "--shared-lane", [&lanes] { lanes = 1; }, "one lane for all threads of a rank");
  CLI::Option* const own = app.add_flag_callback(
      "--lane-per-thread", [&lanes] { lanes = 0; }, "a lane for each thread, as without any");
  one->excludes(some);
  own->excludes(some, one);
}

void add_lane_lock(CLI::App& app, options& o) {
  app.add_flag("--lock-lanes", o.base.lock_lanes,
               "one plain lock around every call and poll of a lane");
}

void add_beside(CLI::App& app, options& o) {
  app.add_option("--beside", o.base.beside_bytes,
                 "of tag: while messages of so many bytes, such as 256M, go one after the other "
                 "from the same lane to the target; --compare unloaded measures it without them")
      ->transform(CLI::Validator(take_size, ""));
}

std::vector<std::string> settings_for(const options& o) {
  if (o.backend != "utofu" || std::getenv("SOFTTOFU_JOB") != nullptr) return {};
  return {fmt::format("SOFTTOFU_JOB=heddle-bench-{}", getpid())};
}

void add_rivals(CLI::App& app, options& o) {
  const auto set = [&into = o.rivals](const std::vector<std::string>& chosen) {
    into.clear();
    for (const std::string& name : chosen) {
      if (name != "none") into.push_back(choices<rival>().at(name));
    }
  };
  std::vector<std::string> names = names_in(choices<rival>());
  names.emplace_back("none");
  app.add_option_function<std::vector<std::string>>(
         "--compare", set,
         "measure in turn with other libraries, the machine's bare limit, or a pair of the job's "
         "ranks")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember(names));
  app.add_option("--rival-limit-s", o.rival_limit_s,
                 "seconds a library may take for a round beyond its length, before it is killed")
      ->check(CLI::Range(1, 3600))
      ->capture_default_str();
}

}  // namespace heddle::bench
