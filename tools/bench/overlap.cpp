#include "bench/overlap.h"

#include <memory>

#include "bench/command.h"
#include "bench/overlap_report.h"
#include "bench/rival_runner.h"
#include "bench/session.h"
#include "bench/tag_mover.h"

namespace heddle::bench {
namespace {

struct overlap_options {
  options job;
  double compute_us = 100;
  computing who = computing::both;
};

rival_task task_for(const overlap_options& o, std::uint64_t bytes, const std::string& backend) {
  rival_task t{.what = o.job.base,
               .backend = backend,
               .limit = std::chrono::seconds(o.job.rival_limit_s),
               .overlap = overlap_task{o.who, o.compute_us}};
  t.what.bytes = bytes;
  return t;
}

std::vector<std::unique_ptr<rival_runner>> rivals_for(const session& in, const overlap_options& o,
                                                      std::uint64_t bytes) {
  rival_task t = task_for(o, bytes, in.backend());
  t.cores = in.bound_cores(t.what.threads);
  std::vector<std::unique_ptr<rival_runner>> runners;
  for (const rival who : o.job.rivals) runners.push_back(make_rival_runner(who, t));
  return runners;
}

/// A round of Heddle, on both ranks. Rank 0 learns what its partner found.
void play_heddle(session& in, const overlap_options& o, tag_mover& own, overlap_case& c) {
  const std::uint64_t count = overlap_iterations(o.job.base.time, c.bytes, o.compute_us);
  const double seconds = computes(o.who, in.at().initiates()) ? o.compute_us * 1e-6 : 0;
  const side_times alone = overlap_pass(own, count, 0);
  const side_round mine{alone, overlap_pass(own, count, seconds)};
  const std::vector<side_round> all = collect(in, std::span(&mine, 1));
  if (!in.reports()) return;
  c.libraries.front().sender.push_back(all[0]);
  c.libraries.front().receiver.push_back(all[1]);
}

/// A round of a rival, on rank 0 while the others sleep. One that fails is left out from then on.
void play_rival(rival_runner& runner, overlap_series& s) {
  if (!s.failure.empty()) return;
  try {
    const auto [sender, receiver] = runner.next().sides.value();
    s.sender.push_back(sender);
    s.receiver.push_back(receiver);
  } catch (const rival_failure& why) {
    s.failure = why.what();
  }
}

void measure_size(session& in, const overlap_options& o, std::uint64_t bytes) {
  tag_mover own(in.at(), bytes, o.job.base.buffers);
  const auto rivals = rivals_for(in, o, bytes);
  overlap_case c{o.who, o.compute_us, bytes, in.backend(), {{.library = "heddle"}}};
  c.ranks = o.job.ranks;
  for (const rival who : o.job.rivals) c.libraries.push_back({.library = name_of(who)});
  for (int round = 0; round < o.job.rounds; ++round) {
    play_heddle(in, o, own, c);
    for (std::size_t i = 0; in.reports() && i < rivals.size(); ++i) {
      play_rival(*rivals[i], c.libraries[i + 1]);
    }
    in.job().barrier();
  }
  if (!in.reports()) return;
  in.print(overlap_table(c));
  in.keep(overlap_records(c));
}

void check_overlap_options(const overlap_options& o) {
  check_options(o.job);
  for (const rival who : o.job.rivals) check_rival(who, task_for(o, 0, o.job.backend));
}

void run_overlap_in_job(const overlap_options& o) {
  session in(o.job);
  for (const std::uint64_t bytes : o.job.sizes) measure_size(in, o, bytes);
  in.write();
}

/// The two questions of the source: do small messages leave at once, do large ones go on without
/// us.
void add_presets(CLI::App& app, overlap_options& o) {
  const auto small = [&o] {
    o.job.sizes = {8, 64, 512, 4096};
    o.compute_us = 20;
  };
  const auto rendezvous = [&o] {
    o.job.sizes = {std::uint64_t{128} << 10, std::uint64_t{512} << 10, std::uint64_t{2} << 20};
    o.compute_us = 100;
  };
  CLI::Option* const first = app.add_flag_callback(
      "--small", small, "20 us of computing, 8 B to 4 KiB: sent at once by every backend");
  CLI::Option* const second = app.add_flag_callback(
      "--rendezvous", rendezvous, "100 us of computing, 128 KiB to 2 MiB: sent by rendezvous");
  second->excludes(first);
  for (const char* const name : {"--sizes", "--compute-us"}) {
    first->excludes(app.get_option(name));
    second->excludes(app.get_option(name));
  }
}

constexpr const char* details =
    R"(A message is sent to a posted receive, without computing and with --compute-us of
it between posting and waiting. The ratio is the share of the shorter one of both
that hides behind the other: (alone + computed - total) / min(alone, computed). 1 is
all of it, 0 nothing. isend is the call that starts the transfer, on the receiver's
side the posting of the receive and telling the sender of it. Computing is a loop
over the clock that touches no memory. The figures are those of the first pair of
ranks. After Trahay, Denis, Aumage and Namyst, who had an idle core on each side.)";

}  // namespace

void add_overlap(CLI::App& bench, int& code) {
  auto o = std::make_shared<overlap_options>();
  o->job.free_executors = true;  // whose work is to go on where nobody computes
  o->job.base.op = operation::tag;
  CLI::App& app = *bench.add_subcommand("overlap", "How much of a transfer hides behind computing");
  add_sizes(app, o->job.sizes, "bytes, such as 8,1K,4M (default: 1M)");
  app.add_option("--compute-us", o->compute_us, "microseconds of computing")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  add_choice(app, "--computing", o->who, computing_names(),
             "which side computes between posting and waiting")
      ->default_str("both");
  add_presets(app, *o);
  add_job(app, o->job);
  add_rivals(app, o->job);
  app.footer(details);
  app.callback([o, &code] {
    check_overlap_options(*o);
    if (o->job.sizes.empty()) o->job.sizes = {std::uint64_t{1} << 20};
    code = on_every_rank(o->job, [&] { run_overlap_in_job(*o); });
  });
}

}  // namespace heddle::bench
