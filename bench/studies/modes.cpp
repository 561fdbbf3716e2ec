// SPDX-License-Identifier: BSD-3-Clause
// modes.cpp - progress modes measured in turn in one job: overlap's iterations beside adaptive, and
// gets handed to an executor. A world has one mode for life, and a process one world at a time. So
// every turn joins the job anew; what a world learns of its program it must learn again, before it
// is measured.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>

#include "contenders/command.h"
#include "contenders/session.h"
#include "exit_status.h"
#include "harness/pace.h"
#include "harness/statistics.h"
#include "kernels/overhead.h"
#include "kernels/overlap.h"
#include "libraries/heddle.h"
#include "parts/cache_line.h"
#include "studies/studies.h"

namespace heddle::bench {
namespace {

using std::chrono::milliseconds;

/// Modes that take turns, and the records of all of them.
class mode_turns {
 public:
  /// Played on every rank, in a world of the mode; rank 0's figures count. It ends when no other
  /// rank uses its buffers any more.
  using turn = std::function<std::vector<double>(session& in)>;

  /// `o` must outlive this.
  explicit mode_turns(const options& o) : o_(o), cores_(bare::allowed_cores()) {}
  /// That the job may use.
  [[nodiscard]] const std::vector<int>& cores() const noexcept { return cores_; }

  /// Collective: the rounds of `c`, whose contenders are modes by their op ("inline", "idle" ...),
  /// whatever the environment said, and what a cache line needs while the last world is quiet; then
  /// `judge(c)`, and on rank 0 the statistics. Sets HEDDLE_PROGRESS for the rest of the process.
  /// Throws like a session.
  template <class Title, class Judge>
  void measure(case_result c, const turn& play, Title&& title, Judge&& judge) {
    for (int round = 0; round < o_.rounds; ++round) {
      play_round(c, play);
      if (reports_ && round == 0) print_line(title(c) + '\n' + round_heading(c));
      if (reports_) print_line(round_line(c));
    }
    judge(c);
    if (reports_) results_.conclude(c);
  }
  /// On rank 0, after the last measurement: writes the file.
  void write() const {
    if (reports_) results_.write(o_.json_file);
  }

 private:
  void play_round(case_result& c, const turn& play) {
    for (series& mode : c.contenders) {
      bare::pin_this_thread(cores_);  // as the session before found it
      setenv("HEDDLE_PROGRESS", mode.op.c_str(), 1);
      session in(o_);
      add_round(mode, {play(in)});
      c.backend = in.backend();
      reports_ = in.reports();
      if (reports_ && &mode == &c.contenders.back()) {
        const bare::core_pair pair{cores_.front(), cores_[1 % cores_.size()]};
        c.cache_line_ns.push_back(bare::cache_line_one_way(pair, milliseconds(20)) * 1e9);
      }
      in.job().barrier();
    }
  }

  const options& o_;
  const std::vector<int> cores_;  // before any session ties this thread to some of them
  bool reports_ = false;
  results results_;
};

// --- adaptive beside what it chooses between -------------------------------------------------

/// A message and what is computed beside it.
struct adaptive_work {
  std::uint64_t bytes = 0;
  double compute_us = 0;
  computing who = computing::sender;
};

/// Who moves operations that are not inline: "dedicated" where every rank and its executor can have
/// a core of their own, otherwise "idle": helpers that take no core from anybody.
std::string offload_mode(std::size_t cores, int ranks) {
  return cores >= 2 * static_cast<std::size_t>(ranks) ? "dedicated" : "idle";
}

/// No rounds yet: inline, `offload` and adaptive, in this order.
case_result adaptive_case(const adaptive_work& w, const std::string& offload, int ranks) {
  case_result c{.what = {.what = kind::latency, .op = operation::tag, .bytes = w.bytes},
                .benchmark = "adaptive",
                .metrics = {{fmt::format("total_{:g}us", w.compute_us), "us"}},
                .backend = {},
                .contenders = {},
                .comparisons = {}};
  for (const std::string& mode : {std::string("inline"), offload, std::string("adaptive")})
    c.contenders.push_back({.label = mode, .library = "heddle", .op = mode, .ranks = ranks});
  return c;
}

/// After the last round: adaptive is to be compared with the better one of the other two.
void compare_with_best(case_result& c, const adaptive_work& w) {
  const auto time = [&c](std::size_t i) { return median(c.contenders[i].figures); };
  const std::size_t best = time(0) <= time(1) ? 0 : 1;
  c.comparisons = {{2, best, "heddle", fmt::format("ratio_{:g}us", w.compute_us)}};
}

struct adaptive_options {
  options job;
  std::vector<double> compute_us{0, 20, 100, 1000};
  computing who = computing::sender;
  std::string offload = "auto";
};

/// After so many messages the cost model has tried both ways and judged.
constexpr std::uint64_t messages_to_learn_from = 64;

/// Microseconds of an iteration at this rank.
std::vector<double> play_overlap(session& in, spec s, const adaptive_work& w) {
  s.bytes = w.bytes;
  s.compute_us = w.compute_us;
  heddle_pair pair(in.at(), s);
  const overlap_side own =
      tag_side(std::shared_ptr<heddle_path>(pair.make_path(0)), in.at().initiates());
  const double seconds = computes(w.who, in.at().initiates()) ? w.compute_us * 1e-6 : 0;
  (void)overlap_pass(own, messages_to_learn_from, seconds);
  in.job().barrier();
  const side_times times = overlap_pass(own, overlap_iterations(s), seconds);
  in.job().barrier();  // before anybody's buffers are withdrawn
  return {times.total * 1e6};
}

void run_adaptive_in_job(const adaptive_options& o) {
  mode_turns turns(o.job);
  const std::string offload =
      o.offload == "auto" ? offload_mode(turns.cores().size(), o.job.ranks) : o.offload;
  for (const std::uint64_t bytes : o.job.sizes) {
    for (const double us : o.compute_us) {
      const adaptive_work w{bytes, us, o.who};
      turns.measure(
          adaptive_case(w, offload, o.job.ranks),
          [&](session& in) { return play_overlap(in, o.job.base, w); },
          [&](const case_result& c) {
            return fmt::format("adaptive tag {} B over {}, computing {:g} us ({}): total in us",
                               bytes, c.backend, us, name_of(o.who));
          },
          [&](case_result& c) { compare_with_best(c, w); });
    }
  }
  turns.write();
}

constexpr const char* adaptive_details =
    R"(The iteration of overlap (isend, computing, wait; a message to a posted receive) in
three progress modes: inline, where the program does everything itself; --offload,
where helpers do; and adaptive, which chooses. Told is the median total time of an
iteration at the sender of the first pair of ranks, and the ratio of adaptive to the
better one of the others: 1 is the best it can do.

The modes take turns within every round. A turn is a world of its own: it learns from
64 messages and is measured for half of --time-ms. --offload auto is dedicated where
every rank and its executor can have a core of their own, otherwise idle: executors
that are always awake would take the cores that the ranks compute on.)";

// --- a get left to an executor ---------------------------------------------------------------

/// Of single gets by thread 0 of the first rank, medians in us: the latency, and of that the call,
/// without reading the clock. The executors have started, unbound, when this thread is tied to its
/// core.
std::vector<double> play_gets(session& in, spec s, int core) {
  bare::pin_this_thread(core);
  s.what = kind::overhead;
  heddle_pair pair(in.at(), s);
  const auto own = pair.make_path(0);
  std::vector<double> latencies, overheads;
  in.job().barrier();
  if (in.reports())
    time_gets(*own, own->at(0), s.time, [&](double whole, double call) {
      latencies.push_back(whole);
      overheads.push_back(call);
    });
  in.job().barrier();  // before anybody's buffers are withdrawn
  if (!in.reports()) return {0, 0};
  return {median(latencies) * 1e6, (median(overheads) - clock_cost()) * 1e6};
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

void run_offload_in_job(const options& o) {
  mode_turns turns(o);
  const int second = turns.cores()[1 % turns.cores().size()];
  setenv("HEDDLE_EXECUTOR_CORES", std::to_string(second).c_str(), 0);
  spec s = o.base;
  s.buffers = buffer_kind::plain;  // what is mapped is copied within the call in any mode
  for (const std::uint64_t bytes : o.sizes) {
    s.bytes = bytes;
    turns.measure(
        offload_case(bytes), [&](session& in) { return play_gets(in, s, turns.cores().front()); },
        title, count_in_cache_lines);
  }
  turns.write();
}

constexpr const char* offload_details =
    R"(Gets of memory that is not mapped, by one thread, in progress modes inline, where
try_get copies through the kernel, and dedicated, where it only hands the get to an
executor that is awake on a second core; in turn within every round, a world for
each turn. It prints the medians of a round, and in cache lines that were measured beside them
the overhead of handing in, less one reading of the clock, and the latency that is
added. Goals: at most 1 and at most 5.)";

}  // namespace

void add_adaptive(CLI::App& studies, int& code) {
  auto o = std::make_shared<adaptive_options>();
  o->job.bind.what = tools::binding::unit::none;
  o->job.base.op = operation::tag;
  o->job.base.window = 1;
  CLI::App& app = *studies.add_subcommand("adaptive", "Progress mode adaptive beside its choices");
  add_sizes(app, o->job.sizes, {8, 4096, std::uint64_t{64} << 10, std::uint64_t{1} << 20});
  app.add_option("--compute-us", o->compute_us, "microseconds of computing, each with every size")
      ->delimiter(',')
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  add_choice(app, "--computing", o->who, "which side computes between posting and waiting");
  app.add_option("--offload", o->offload, "the mode in which helpers do everything")
      ->check(CLI::IsMember({"auto", "idle", "dedicated"}))
      ->capture_default_str();
  add_job(app, o->job);
  app.footer(adaptive_details);
  app.callback([o, &code] {
    check_options(o->job);
    code = on_every_rank(o->job, [&] { run_adaptive_in_job(*o); });
  });
}

void add_offload(CLI::App& studies, int& code) {
  auto o = std::make_shared<options>();
  o->benchmark = "offload";
  o->backend = "shm";
  o->base.op = operation::get;
  CLI::App& app = *studies.add_subcommand("offload", "Cost of leaving a get to an executor");
  app.footer(offload_details);
  add_sizes(app, o->sizes, {8, 4096});
  add_job(app, *o);
  app.callback([o, &code] {
    check_options(*o);
    if (o->ranks != 2) throw tools::usage_error("offload is for --ranks 2");
    if (o->backend != "shm") throw tools::usage_error("offload is for --backend shm");
    o->bind = {tools::binding::unit::none};  // a world's threads stay where its maker was tied to
    code = on_every_rank(*o, [&] { run_offload_in_job(*o); });
  });
}

}  // namespace heddle::bench
