// SPDX-License-Identifier: BSD-3-Clause
// info.cpp - `heddle info`: version, settings, limits, and what a world says about itself.
#include <fmt/format.h>
#include <heddle/info.h>
#include <heddle/status.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bootstrap/launcher_protocol.h"
#include "exit_status.h"
#include "info/ask_hosts.h"
#include "info/hanging.h"
#include "info/limits.h"
#include "info/scale.h"
#include "info/world_part.h"
#include "run/host_options.h"
#include "run/launcher.h"
#include "subcommand.h"

namespace heddle::tools {
namespace {

using json = nlohmann::ordered_json;

constexpr const char* about =
    "Show version, settings, limits, backends, hosts and routes, or what a job waits for";

constexpr const char* details =
    R"(Under `heddle run` it describes the job it is part of, otherwise a world of one.
The exit status is 1 when no job could be joined, for example because a setting
cannot be understood; the reason is shown.

With --pid it asks a running job what it waits for: a rank, or its `heddle run`,
which stands for all ranks on this host. The job need not call Heddle, nor get
on, to answer; only processes of the same user are asked. Each rank tells of its
lanes: operations in flight, receives that have no message, messages that nobody
has received, and peers. A rank that is stopped is said to be. The exit status is
1 when there is no such job. --metrics prints what
its lanes have counted instead, as Prometheus and its collectors read it.

With --hosts or --hostfile it starts itself on each host, as heddle run would, and
compares them: versions, cores, memory, limits, backends that can be used there, and
addresses. What differs is marked with a !.

With --scale it makes the world of one rank of a large job, with the code that does
that and the devices of this host, while the launcher's store and the other ranks are
made up; and tells how many messages, bytes and how much memory that takes, for the
rank that speaks for its host and for another one. From a job of another size it
learns what a peer costs that nothing is said to, and from a small real one on this
host what one costs that is talked with; and tells the limits of both.

Examples:
  heddle info
  heddle info --scale 158976 --ranks-per-host 48
  heddle info --hosts node1,node2
  HEDDLE_BACKENDS=tcp heddle info --json
  heddle info --pid $(pgrep -o -f 'heddle run')
  heddle info --pid 4711 --metrics > /var/lib/node_exporter/heddle.prom)";

struct report {
  std::vector<setting_row> settings;
  std::vector<limit_row> limits = list_limits();
  std::optional<world_part> world;
  std::string problem;  ///< why a part is missing
};

limit_row wake_cost_row(std::uint64_t ns) {
  const std::string time =
      ns != 0 ? fmt::format("{:.1f} us", static_cast<double>(ns) * 1e-3) : "unknown";
  return {"wake cost", time,
          "until a sleeping thread runs; HEDDLE_SPIN_US=auto is four times that"};
}

report collect() {
  report found;
  try {
    found.settings = list_settings();
#ifdef HEDDLE_INFO_ASKS_WORLD
    found.world = ask_world();
    found.limits.push_back(wake_cost_row(found.world->wake_cost_ns));
#endif
  } catch (const error& e) {
    found.problem = e.what();
  }
  return found;
}

json as_json(const world_part& w) {
  json routes = json::array();
  for (const route_row& r : w.routes)
    routes.push_back({{"peer", r.peer}, {"host", r.host}, {"backend", r.backend}});
  for (std::size_t r = 0; r < w.cpus.size(); ++r) routes[r]["cpus"] = w.cpus[r];
  return {{"rank", w.rank}, {"size", w.size}, {"routes", routes}, {"description", w.description}};
}

json as_json(const report& r) {
  json settings = json::array(), limits = json::array();
  for (const setting_row& s : r.settings)
    settings.push_back(
        {{"name", s.name}, {"value", s.value}, {"origin", s.origin}, {"help", s.help}});
  for (const limit_row& l : r.limits)
    limits.push_back({{"name", l.name}, {"value", l.value}, {"meaning", l.meaning}});
  json all{{"version", version()}, {"settings", settings}, {"limits", limits}};
  if (r.world) all["world"] = as_json(*r.world);
  if (!r.problem.empty()) all["problem"] = r.problem;
  return all;
}

template <class Rows, class Width>
std::size_t widest(const Rows& rows, Width width) {
  std::size_t most = 0;
  for (const auto& row : rows) most = std::max(most, width(row).size());
  return most;
}

void print_settings(const std::vector<setting_row>& rows) {
  const auto names = widest(rows, [](const setting_row& r) { return r.name; });
  const auto texts = widest(rows, [](const setting_row& r) { return r.value; });
  fmt::print("\nSettings (* from the environment)\n");
  for (const setting_row& r : rows)
    fmt::print("  {:{}}  {} {:{}}  {}\n", r.name, names, r.origin == "default" ? ' ' : '*', r.value,
               texts, r.help);
}

void print_limits(const std::vector<limit_row>& rows) {
  const auto names = widest(rows, [](const limit_row& r) { return r.name; });
  const auto texts = widest(rows, [](const limit_row& r) { return r.value; });
  fmt::print("\nLimits\n");
  for (const limit_row& r : rows)
    fmt::print("  {:{}}  {:{}}  {}\n", r.name, names, r.value, texts, r.meaning);
}

/// Which CPUs the ranks may use; alike ones of a host together.
void print_binding(const world_part& w) {
  if (w.cpus.empty()) return;
  fmt::print("\nBinding\n");
  for (std::size_t first = 0; first < w.cpus.size();) {
    std::size_t end = first + 1;
    while (end < w.cpus.size() && w.cpus[end] == w.cpus[first] &&
           w.routes[end].host == w.routes[first].host)
      ++end;
    const std::string ranks = end - first == 1 ? fmt::format("rank {}", first)
                                               : fmt::format("ranks {}-{}", first, end - 1);
    fmt::print("  {} on {}: cpus {}\n", ranks, w.routes[first].host, w.cpus[first]);
    first = end;
  }
}

void print_text(const report& r) {
  fmt::print("heddle {}\n", version());
  if (!r.settings.empty()) print_settings(r.settings);
  print_limits(r.limits);
  if (r.world) fmt::print("\nWorld\n{}\n", r.world->description);
  if (r.world) print_binding(*r.world);
  if (!r.problem.empty()) fmt::print("\nProblem: {}\n", r.problem);
}

// In a job of several, rank 0 speaks for all; the others only when something is wrong.
void print(const report& r, bool as_data) {
  if (r.world && r.world->rank != 0 && r.problem.empty()) return;
  if (as_data)
    fmt::print("{}\n",
               as_json(r).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  else
    print_text(r);
}

/// Of a running job.
int tell_of_job(int pid, bool as_data, bool as_metrics) {
  try {
    as_metrics ? print_metrics(pid) : print_what_waits(pid, as_data);
    return success;
  } catch (const error& e) {
    fmt::print(stderr, "heddle info: {}\n", e.what());
    return failed;
  }
}

/// Of a job that is not there.
int tell_of_scale(const scale_job& job, bool as_data) {
  try {
    print_scale(job, as_data);
    return success;
  } catch (const error& e) {
    fmt::print(stderr, "heddle info: {}\n", e.what());
    return failed;
  }
}

/// Of the job this is part of, or of a world of one.
int tell_of_here(bool as_data) {
  const report found = collect();
  print(found, as_data);
  return found.problem.empty() ? success : failed;
}

void add_scale_options(CLI::App& info, scale_job& job) {
  constexpr int most = bootstrap::protocol::max_ranks;
  auto* ranks =
      info.add_option("--scale", job.ranks,
                      "Simulate how a rank joins a job of so many, and tell what it costs")
          ->type_name("N")
          ->check(CLI::Range(2, most));
  info.add_option("--ranks-per-host", job.per_host, "How many of these are on each host")
      ->type_name("R")
      ->check(CLI::Range(1, most))
      ->needs(ranks)
      ->capture_default_str();
}

}  // namespace

void add_info(CLI::App& app, int& exit_code) {
  const auto as_data = std::make_shared<bool>(false);
  const auto as_metrics = std::make_shared<bool>(false);
  const auto pid = std::make_shared<int>(0);
  const auto hosts = std::make_shared<host_options>();
  const auto facts = std::make_shared<bool>(false);
  const auto scale = std::make_shared<scale_job>(scale_job{.ranks = 0});
  CLI::App* info = app.add_subcommand("info", about);
  info->footer(details);
  info->add_flag("--json", *as_data, "Print one JSON object instead of text");
  auto* asked =
      info->add_option("--pid", *pid, "Ask this running process, and those it has started")
          ->type_name("PID")
          ->check(CLI::Range(1, std::numeric_limits<int>::max()));
  info->add_flag("--metrics", *as_metrics,
                 "With --pid: print its counters as Prometheus reads them")
      ->needs(asked)
      ->excludes("--json");
  add_host_options(*info, *hosts);
  info->add_flag(facts_option, *facts, "Tell this host's facts")->group("");
  add_scale_options(*info, *scale);
  info->callback([as_data, as_metrics, pid, hosts, facts, scale, &exit_code] {
    if (*facts) return tell_facts();
    if (scale->ranks != 0) return void(exit_code = tell_of_scale(*scale, *as_data));
    if (hosts->given() && *pid != 0)
      throw usage_error("--pid asks processes of this host: leave out --hosts, or run it there");
    exit_code = *pid != 0                         ? tell_of_job(*pid, *as_data, *as_metrics)
                : hosts->given() && !inside_job() ? ask_hosts(*hosts, *as_data)
                                                  : tell_of_here(*as_data);
  });
}

}  // namespace heddle::tools
