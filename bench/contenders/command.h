// SPDX-License-Identifier: BSD-3-Clause
// command.h - what the command lines of the benchmarks share: options, and the way into a job.
#pragma once
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "exit_status.h"
#include "harness/choice.h"
#include "harness/files.h"
#include "harness/spec.h"
#include "run/host_options.h"
#include "run/launcher.h"
#include "standard_output.h"

namespace heddle::bench {

/// --sizes: a list of 0 to 1G with units.
void add_sizes(CLI::App& app, std::vector<std::uint64_t>& into,
               const std::vector<std::uint64_t>& unless_given);

/// --rounds and --time-ms, the length of one; defaults are what they are now.
void add_rounds(CLI::App& app, int& rounds, std::chrono::milliseconds& time);

/// --backend, --ranks, --bind, --free-executors, --rounds, --time-ms and --json; defaults are what
/// `o` is now.
void add_job(CLI::App& app, options& o);

/// --threads N, or a list of numbers, each measured in every round.
void add_thread_counts(CLI::App& app, options& o);

/// --lanes, --shared-lane and --lane-per-thread, which exclude each other.
void add_lanes(CLI::App& app, options& o);
void add_lane_lock(CLI::App& app, options& o);

/// --beside: the size of messages that move meanwhile.
void add_beside(CLI::App& app, options& o);

/// --compare: a list of rivals, in which "none" may stand for an empty one; and --rival-limit-s.
void add_rivals(CLI::App& app, options& o);

/// What the ranks of a job that we start need beyond our environment: with --backend utofu a
/// machine of their own, unless the user named one, where uTofu is the software device.
[[nodiscard]] std::vector<std::string> settings_for(const options& o);

/// Runs `body` on every rank of the job that this process is in, or starts one of itself. The exit
/// status, which is what `body` returns if it returns anything.
template <class F>
int on_every_rank(const options& o, F&& body) {
  if (!tools::inside_job()) {
    check_writable(o.json_file, "--json");
    tools::launch_options job;
    job.ranks = o.ranks;
    job.ranks_explain = true;
    job.environment = settings_for(o);
    // Else a rank ties its measuring threads only, and itself.
    job.bind = o.free_executors ? tools::binding{tools::binding::unit::none} : o.bind;
    if (o.hosts.given() && !o.rivals.empty())
      throw tools::usage_error("--compare starts rivals on this host: leave it out with --hosts");
    // Ranks are measured in pairs of neighbours: between hosts where there are several.
    tools::take_hosts(o.hosts, o.ranks, job, tools::placing::dealing);
    if (!job.hosts.empty()) tools::print(tools::places_of(job) + '\n');
    return tools::launch_self(job);
  }
  if (!o.json_file.empty()) tools::outlive_readers();
  try {
    if constexpr (std::is_void_v<decltype(body())>) {
      body();
    } else {
      return body();
    }
  } catch (const std::bad_alloc&) {
    throw std::runtime_error(
        "not enough memory for these messages; give smaller --sizes, or --window");
  }
  return tools::success;
}

/// Throws usage_error when these options can not be honoured together, naming which and why.
void check_options(const options& o);

/// By every rank of a job: measures every size in alternating rounds; rank 0 prints and writes. The
/// exit status: corrupted when updates were lost. Throws std::exception; then the launcher must end
/// the job.
[[nodiscard]] int run_in_job(const options& o);

/// Runs the alternating rounds that `o` describes on every rank. Throws usage_error.
inline int measure(const options& o) {
  check_options(o);
  return on_every_rank(o, [&] { return run_in_job(o); });
}

}  // namespace heddle::bench
