// SPDX-License-Identifier: BSD-3-Clause
// offload_cost.cpp - the same gets inline and handed to an executor, a world for each turn.
#include "studies/offload_cost.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "contenders/command.h"
#include "exit_status.h"
#include "harness/laps.h"
#include "harness/result_file.h"
#include "harness/statistics.h"
#include "libraries/heddle.h"
#include "parts/bare.h"
#include "studies/mode_turns.h"

namespace heddle::bench {
namespace {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t dropped_samples = 1000, most_samples = 200'000;

/// Of single gets, medians of a round, in seconds.
struct get_times {
  double overhead = 0;  ///< of the call, without reading the clock
  double latency = 0;
};

/// Thread 0 of the initiating rank, one get at a time.
class single_gets {
 public:
  single_gets(session& in, const equipment& gear)
      : lane_(in.at().first_lane()), into_(gear.landing(0, 0)), from_(gear.their_table().at(0)) {}

  get_times measure(milliseconds time) {
    const clock::time_point end = clock::now() + time;
    for (clock::time_point now = clock::now(); now < end && overheads_.size() < most_samples;) {
      now = get();
    }
    return {median_of(overheads_) - clock_cost(), median_of(latencies_)};
  }

 private:
  /// Until accepted, complete; returns when.
  clock::time_point get() {
    ended_.reset();
    const clock::time_point begin = clock::now();
    const status posted = lane_.try_get(into_, from_, ended_);
    const clock::time_point handed_in = clock::now();
    require(posted, "get");
    if (posted == status::posted) require(lane_.wait(ended_), "get");
    const clock::time_point end = clock::now();
    overheads_.push_back(seconds_between(begin, handed_in));
    latencies_.push_back(seconds_between(begin, end));
    return end;
  }
  /// Without the first ones, but no less than half of them.
  static double median_of(const std::vector<double>& all) {
    const std::size_t dropped = std::min(dropped_samples, all.size() / 2);
    return median({all.begin() + static_cast<std::ptrdiff_t>(dropped), all.end()});
  }

  lane& lane_;
  std::span<std::byte> into_;
  remote_address from_;
  flag ended_;
  std::vector<double> overheads_, latencies_;
};

/// Rounds of one size, on every rank; only the first rank's figures count.
class offload_turns {
 public:
  offload_turns(const options& o, const mode_turns& turns, std::uint64_t bytes)
      : o_(o), turns_(turns), spec_(o.base) {
    spec_.bytes = bytes;
    spec_.buffers = buffer_kind::plain;  // what is mapped is copied within the call in any mode
  }
  /// Adds to the contenders of `c`, inline and dedicated, and its cache lines.
  void play(case_result& c) {
    double cache_line = 0;
    const get_times alone = play("inline", cache_line), offloaded = play("dedicated", cache_line);
    if (!reports_) return;
    c.cache_line_ns.push_back(cache_line * 1e9);
    add(c.contenders[0], alone, alone, cache_line);
    add(c.contenders[1], offloaded, alone, cache_line);
  }
  [[nodiscard]] bool reports() const noexcept { return reports_; }

 private:
  /// As the metrics of offload_case().
  static void add(series& to, const get_times& t, const get_times& alone, double cache_line) {
    to.figures.push_back(t.latency * 1e6);
    to.parts.resize(3);
    to.parts[0].push_back(t.overhead * 1e6);
    to.parts[1].push_back(t.overhead / cache_line);
    to.parts[2].push_back((t.latency - alone.latency) / cache_line);
  }
  /// The executors have started, unbound, when this thread is tied to its core.
  get_times play(const char* mode, double& cache_line) {
    const std::unique_ptr<session> in = turns_.join(mode);
    const std::vector<int>& cores = turns_.cores();
    bare::pin_this_thread(cores.front());
    const equipment gear(in->at(), spec_);
    reports_ = in->reports();
    get_times times;
    in->job().barrier();
    if (reports_) {
      times = single_gets(*in, gear).measure(o_.base.time);
      cache_line =
          bare::cache_line_one_way({cores.front(), cores[1 % cores.size()]}, milliseconds(20));
    }
    in->job().barrier();  // before anybody's buffers are withdrawn
    return times;
  }

  const options& o_;
  const mode_turns& turns_;
  spec spec_;
  bool reports_ = false;
};

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

/// The records on rank 0, elsewhere nothing.
std::vector<record> measure_size(const options& o, const mode_turns& turns, std::uint64_t bytes) {
  offload_turns modes(o, turns, bytes);
  case_result c = offload_case(bytes);
  for (int round = 1; round <= o.rounds; ++round) {
    modes.play(c);
    if (!modes.reports()) continue;
    if (round == 1) print_line(title(c) + '\n' + round_heading(c));
    print_line(round_line(c));
  }
  if (!modes.reports()) return {};
  print_line(summary_table(c));
  return records_of(c);
}

void check(const options& o) {
  check_options(o);
  if (o.ranks != 2) throw tools::usage_error("offload is for --ranks 2");
  if (o.backend != "shm") throw tools::usage_error("offload is for --backend shm");
}

void run_in_this_job(const options& o) {
  const mode_turns turns(o);
  const int second = turns.cores()[1 % turns.cores().size()];
  setenv("HEDDLE_EXECUTOR_CORES", std::to_string(second).c_str(), 0);
  std::vector<record> records;
  for (const std::uint64_t bytes : o.sizes) {
    const std::vector<record> more = measure_size(o, turns, bytes);
    records.insert(records.end(), more.begin(), more.end());
  }
  if (!records.empty() && !o.json_file.empty()) write_records(o.json_file, records);
}

constexpr const char* details =
    R"(Gets of memory that is not mapped, by one thread, in progress modes inline, where
try_get copies through the kernel, and dedicated, where it only hands the get to an
executor that is awake on a second core; in turn within every round, a world for
each turn. Told are the medians of a round, and in cache lines that were measured
beside them the overhead of handing in, less one reading of the clock, and the latency
that is added. Goals: at most 1 and at most 5.)";

}  // namespace

void add_offload_cost(CLI::App& studies, int& code) {
  auto o = std::make_shared<options>();
  o->benchmark = "offload";
  o->backend = "shm";
  o->base.op = operation::get;
  o->sizes = {8, 4096};
  CLI::App& app = *studies.add_subcommand("offload", "Cost of leaving a get to an executor");
  app.footer(details);
  add_sizes(app, o->sizes, "bytes, such as 8,1K,4M")->capture_default_str();
  add_job(app, *o);
  app.callback([o, &code] {
    check(*o);
    o->bind = {tools::binding::unit::none};  // a world's threads stay where its maker was tied to
    code = on_every_rank(*o, [&] { run_in_this_job(*o); });
  });
}

}  // namespace heddle::bench
