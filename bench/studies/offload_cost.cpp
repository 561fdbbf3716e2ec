// SPDX-License-Identifier: BSD-3-Clause
// offload_cost.cpp - the same gets inline and handed to an executor, a world for each turn.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "contenders/command.h"
#include "exit_status.h"
#include "harness/pace.h"
#include "harness/statistics.h"
#include "libraries/heddle.h"
#include "studies/mode_turns.h"
#include "studies/studies.h"

namespace heddle::bench {
namespace {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t dropped_samples = 1000, most_samples = 200'000;

/// Without the first ones, but no less than half of them.
double steady_median(const std::vector<double>& all) {
  const std::size_t dropped = std::min(dropped_samples, all.size() / 2);
  return median({all.begin() + static_cast<std::ptrdiff_t>(dropped), all.end()});
}

/// Of single gets by this thread, medians in us: the latency, and of that the call, without reading
/// the clock.
std::vector<double> time_gets(lane& l, std::span<std::byte> into, remote_address from,
                              milliseconds time) {
  std::vector<double> overheads, latencies;
  const clock::time_point begin = clock::now();
  for (clock::time_point end = begin; end - begin < time && overheads.size() < most_samples;) {
    flag ended;
    const clock::time_point start = clock::now();
    const status posted = l.try_get(into, from, ended);
    const clock::time_point handed_in = clock::now();
    require(posted, "get");
    if (posted == status::posted) require(l.wait(ended), "get");
    end = clock::now();
    overheads.push_back(seconds_between(start, handed_in));
    latencies.push_back(seconds_between(start, end));
  }
  return {steady_median(latencies) * 1e6, (steady_median(overheads) - clock_cost()) * 1e6};
}

/// Of thread 0 of the first rank. The executors have started, unbound, when this thread is tied to
/// its core.
std::vector<double> play(session& in, const spec& s, int core) {
  bare::pin_this_thread(core);
  heddle_pair pair(in.at(), s);
  const seat own = pair.seat_of(0);
  std::vector<double> figures(2);
  in.job().barrier();
  if (in.reports())
    figures = time_gets(in.at().first_lane(), own.landing(0), own.their_table.at(0), s.time);
  in.job().barrier();  // before anybody's buffers are withdrawn
  return figures;
}

case_result offload_case(std::uint64_t bytes) {
  spec what{.what = kind::latency, .op = operation::get, .bytes = bytes};
  return {.what = what,
          .benchmark = "latency-overhead",
          .metrics = {{"latency", "us"},
                      {"overhead", "us"},
                      {"overhead_lines", "times"},
                      {"added_lines", "times"}},
          .backend = "shm",
          .contenders = {{.label = "inline", .library = "heddle", .op = "inline"},
                         {.label = "dedicated", .library = "heddle", .op = "dedicated"}},
          .comparisons = {}};
}

/// The figures of each round in cache lines of that round.
void count_in_cache_lines(case_result& c) {
  const std::vector<double>& alone = c.contenders[0].figures;
  for (series& mode : c.contenders) {
    mode.parts.resize(3);
    for (std::size_t i = 0; i < c.cache_line_ns.size(); ++i) {
      const double line_us = c.cache_line_ns[i] * 1e-3;
      mode.parts[1].push_back(mode.parts[0][i] / line_us);
      mode.parts[2].push_back((mode.figures[i] - alone[i]) / line_us);
    }
  }
}

void measure_size(mode_turns& turns, const options& o, std::uint64_t bytes) {
  spec s = o.base;
  s.bytes = bytes;
  s.buffers = buffer_kind::plain;  // what is mapped is copied within the call in any mode
  case_result c = offload_case(bytes);
  turns.hold_rounds(
      c, [&](session& in) { return play(in, s, turns.cores().front()); }, title);
  count_in_cache_lines(c);
  turns.conclude(c);
}

void check(const options& o) {
  check_options(o);
  if (o.ranks != 2) throw tools::usage_error("offload is for --ranks 2");
  if (o.backend != "shm") throw tools::usage_error("offload is for --backend shm");
}

void run_in_this_job(const options& o) {
  mode_turns turns(o);
  const int second = turns.cores()[1 % turns.cores().size()];
  setenv("HEDDLE_EXECUTOR_CORES", std::to_string(second).c_str(), 0);
  for (const std::uint64_t bytes : o.sizes) measure_size(turns, o, bytes);
  turns.write();
}

constexpr const char* details =
    R"(Gets of memory that is not mapped, by one thread, in progress modes inline, where
try_get copies through the kernel, and dedicated, where it only hands the get to an
executor that is awake on a second core; in turn within every round, a world for
each turn. Told are the medians of a round, and in cache lines that were measured
beside them the overhead of handing in, less one reading of the clock, and the latency
that is added. Goals: at most 1 and at most 5.)";

}  // namespace

void add_offload(CLI::App& studies, int& code) {
  auto o = std::make_shared<options>();
  o->benchmark = "offload";
  o->backend = "shm";
  o->base.op = operation::get;
  CLI::App& app = *studies.add_subcommand("offload", "Cost of leaving a get to an executor");
  app.footer(details);
  add_sizes(app, o->sizes, {8, 4096});
  add_job(app, *o);
  app.callback([o, &code] {
    check(*o);
    o->bind = {tools::binding::unit::none};  // a world's threads stay where its maker was tied to
    code = on_every_rank(*o, [&] { run_in_this_job(*o); });
  });
}

}  // namespace heddle::bench
