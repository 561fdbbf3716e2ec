// SPDX-License-Identifier: BSD-3-Clause
// adaptive.cpp - a world per mode and turn, and overlap's iterations in it.
#include <memory>

#include "contenders/command.h"
#include "kernels/overlap.h"
#include "libraries/heddle.h"
#include "studies/adaptive_report.h"
#include "studies/mode_turns.h"
#include "studies/studies.h"

namespace heddle::bench {
namespace {

struct adaptive_options {
  options job;
  std::vector<double> compute_us{0, 20, 100, 1000};
  computing who = computing::sender;
  std::string offload = "auto";
};

/// After so many messages the cost model has tried both ways and judged.
constexpr std::uint64_t messages_to_learn_from = 64;

/// Microseconds of an iteration at this rank.
double play(session& in, const adaptive_options& o, const adaptive_work& w) {
  spec s = o.job.base;
  s.bytes = w.bytes;
  s.compute_us = w.compute_us;
  heddle_pair pair(in.at(), s);
  tag_side<heddle_path> own(pair.make_path(0), in.at().initiates());
  const double seconds = computes(w.who, in.at().initiates()) ? w.compute_us * 1e-6 : 0;
  (void)overlap_pass(own, messages_to_learn_from, seconds);
  in.job().barrier();
  const side_times times = overlap_pass(own, overlap_iterations(s), seconds);
  in.job().barrier();  // before anybody's buffers are withdrawn
  return times.total * 1e6;
}

void measure_work(mode_turns& turns, const adaptive_options& o, const adaptive_work& w) {
  const std::string offload =
      o.offload == "auto" ? offload_mode(turns.cores().size(), o.job.ranks) : o.offload;
  case_result c = adaptive_case(w, offload, o.job.ranks);
  turns.hold_rounds(
      c, [&](session& in) { return std::vector<double>{play(in, o, w)}; },
      [&](const case_result& of) { return adaptive_title(w, of.backend); });
  compare_with_best(c, w);
  turns.conclude(c);
}

void run_adaptive_in_job(const adaptive_options& o) {
  mode_turns turns(o.job);
  for (const std::uint64_t bytes : o.job.sizes)
    for (const double us : o.compute_us) measure_work(turns, o, {bytes, us, o.who});
  turns.write();
}

constexpr const char* details =
    R"(The iteration of overlap (isend, computing, wait; a message to a posted receive) in
three progress modes: inline, where the program does everything itself; --offload,
where helpers do; and adaptive, which chooses. Told is the median total time of an
iteration at the sender of the first pair of ranks, and the ratio of adaptive to the
better one of the others: 1 is the best it can do.

The modes take turns within every round. A turn is a world of its own: it learns from
64 messages and is measured for half of --time-ms. --offload auto is dedicated where
every rank and its executor can have a core of their own, otherwise idle: executors
that are always awake would take the cores that the ranks compute on.)";

void add_what(CLI::App& app, adaptive_options& o) {
  add_sizes(app, o.job.sizes, {8, 4096, std::uint64_t{64} << 10, std::uint64_t{1} << 20});
  app.add_option("--compute-us", o.compute_us, "microseconds of computing, each with every size")
      ->delimiter(',')
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  add_choice(app, "--computing", o.who, "which side computes between posting and waiting");
  app.add_option("--offload", o.offload, "the mode in which helpers do everything")
      ->check(CLI::IsMember({"auto", "idle", "dedicated"}))
      ->capture_default_str();
}

}  // namespace

void add_adaptive(CLI::App& studies, int& code) {
  auto o = std::make_shared<adaptive_options>();
  o->job.bind.what = tools::binding::unit::none;
  o->job.base.op = operation::tag;
  o->job.base.window = 1;
  CLI::App& app = *studies.add_subcommand("adaptive", "Progress mode adaptive beside its choices");
  add_what(app, *o);
  add_job(app, o->job);
  app.footer(details);
  app.callback([o, &code] {
    check_options(o->job);
    code = on_every_rank(o->job, [&] { run_adaptive_in_job(*o); });
  });
}

}  // namespace heddle::bench
