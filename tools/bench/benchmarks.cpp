// SPDX-License-Identifier: BSD-3-Clause
// benchmarks.cpp - the command lines of the benchmarks that measure in alternating rounds.
#include <CLI/CLI.hpp>
#include <memory>

#include "bench/commands.h"
#include "contenders/command.h"
#include "real_range.h"

namespace heddle::bench {
namespace {

constexpr const char* pingpong_details =
    R"(T threads of each rank play ping-pong by put, each with its own partner thread.
Latency is half a round trip, the mean over the threads; aggregate bandwidth is
T messages in that time. Up to 8 bytes the receiver polls the word that is put;
above, it waits for a notification, because Heddle does not promise that the last
byte comes last. With --lanes neighbouring threads share a lane.)";

constexpr const char* rate_details =
    R"(T threads of each even rank post operations on random slots of their own part of
a table (put, get), or send to their partner thread (am, tag), with at most
--window in flight each, until the last is known to be complete. The rate is that
of all threads together, in operations per second; opening lanes and exchanging
keys is not timed. Every round measures all thread counts in turn; the ratios are
those of the medians to the first thread count.)";

constexpr const char* background_details =
    R"(Neither side ever polls or waits in Heddle while it is timed: each posts, and then
looks at a flag in its own memory with sched_yield between two looks. A completion
(tag) or a handler (am) sets the flag; what runs it is Heddle's executor thread, or
a post that finds something to do. Latency is half a round trip. Large messages go
by rendezvous, so that several steps of the protocol happen in the background.
After PM2's nm_bench_background_progression, which spins in the same way.)";

constexpr const char* overhead_details =
    R"(READ as in Endo's offloading study: the even rank gets from the odd one, which takes
no part. t0; try_get until it is accepted; t1; wait until it is complete; t2. Overhead
is t1 - t0, refusals included, latency t2 - t0: a round trip. One get of each thread is
under way. Message rate: gets with at most 256 in flight per thread (64 MiB at most),
counted at the end, by the time that really passed.

The first 1000 samples of a run are dropped, but no more than its first half. A run's
figure is the mean over the threads of their means; the mean of the runs has a 95 %
interval by Student's t with (runs - 1) degrees of freedom. The study has 32 runs of
5 s: --runs 32 --duration 5. Over shm both memory that is mapped, where a get is a
copy within try_get, and memory that is not (get-unmapped), are measured in turn;
over tcp every get is remote. The waiting thread drives its lane, where the study's
spins on a flag; reading the clock is in both times.)";

constexpr const char* overlap_details =
    R"(A message is sent to a posted receive, without computing and with --compute-us of
it between posting and waiting. The ratio is the share of the shorter one of both
that hides behind the other: (alone + computed - total) / min(alone, computed). 1 is
all of it, 0 nothing. isend is the call that starts the transfer, on the receiver's
side the posting of the receive and telling the sender of it. Computing is a loop
over the clock that touches no memory. The figures are means over the pairs of
ranks. After Trahay, Denis, Aumage and Namyst, who had an idle core on each side.)";

constexpr const char* gups_details =
    R"(GUPS as in OSB's threaded SHMEMRandomAccess: the next random number names a word
of another rank's table; get it, xor the number into it, put it back, wait for the
put, every update. --atomic does the same with one remote xor. The table of a rank
is --memory halved and rounded down to a power of two. GUP/s is the updates of all
ranks and threads, by 10^9 and the time of the slowest rank.

Other than the source: each thread has a piece of the sequence of its own (starts);
there all threads of a process repeat the same one. The target is a remainder, so
that any number of ranks will do; there it is a shift by a number never set. A round
makes as many updates as fit into --time-ms, at most 4 per word; --full makes these
4, as the source does. After every round each rank repeats all xors on its table,
which must give back what it began with: more than 1 % of the updates lost, or any
with --atomic, ends in status 3; the source only counts updates.)";

/// What the parser fills in; defaults that depend on the subcommand are settled afterwards.
struct command_line {
  options o;
  buffer_kind buffers = buffer_kind::plain;
  const CLI::Option* buffers_given = nullptr;
  const CLI::Option* window_given = nullptr;
};

operation default_operation(kind what) {
  if (what == kind::latency) return operation::am;
  return what == kind::bandwidth ? operation::tag : operation::put;
}

/// Large messages need few in flight, and more of them leave the caches.
constexpr int bandwidth_window = 4;

options settle(const command_line& line) {
  options o = line.o;
  const bool bandwidth = o.base.what == kind::bandwidth;
  if (o.sizes.empty()) o.sizes = {bandwidth ? std::uint64_t{1} << 20 : 8};
  if (bandwidth && line.window_given->empty()) o.base.window = bandwidth_window;
  const bool given = !line.buffers_given->empty();
  o.base.buffers = given ? line.buffers : bandwidth ? buffer_kind::plain : buffer_kind::exposed;
  return o;
}

void add_what(CLI::App& app, command_line& line) {
  spec& s = line.o.base;
  add_choice(app, "--op", s.op, "operation")->default_str(name_of(s.op));
  add_sizes(app, line.o.sizes, "bytes, such as 8,1K,4M (default: 8, bandwidth 1M)");
  line.window_given =
      app.add_option("--window", s.window, "operations in flight (default: 64, bandwidth 4)")
          ->check(CLI::Range(1, 4096));
  add_choice(app, "--target", s.target,
             "what the target does during get and fetch-add: wait, or compute without any call")
      ->default_str("waiting");
  line.buffers_given = add_choice(app, "--buffers", line.buffers,
                                  "ordinary memory, or memory from world::allocate (default: "
                                  "exposed, bandwidth plain)");
}

void add_kind(CLI::App& bench, const std::string& name, kind what, const char* help, int& code) {
  auto line = std::make_shared<command_line>();
  options& o = line->o;
  o.benchmark = name;
  o.base.what = what;
  o.base.op = default_operation(what);
  CLI::App& app = *bench.add_subcommand(name, help);
  add_what(app, *line);
  add_job(app, o);
  add_thread_counts(app, o);
  add_lanes(app, o);
  add_lane_lock(app, o);
  add_rivals(app, o);
  if (what == kind::latency) add_beside(app, o);
  app.callback([line, &code] { code = measure(settle(*line)); });
}

std::shared_ptr<options> multithreaded_options(const std::string& name, kind what) {
  auto o = std::make_shared<options>();
  o->benchmark = name;
  o->base.what = what;
  o->base.op = operation::put;
  o->base.buffers = buffer_kind::exposed;
  o->thread_counts = {1, 2, 4, 8};
  return o;
}

CLI::App& add_thread_benchmark(CLI::App& bench, options& o, const char* help, const char* details) {
  CLI::App& app = *bench.add_subcommand(o.benchmark, help);
  app.footer(details);
  add_sizes(app, o.sizes, "bytes, such as 8,1K,4M")->capture_default_str();
  add_choice(app, "--buffers", o.base.buffers, "ordinary memory, or memory from world::allocate")
      ->default_str("exposed");
  add_job(app, o);
  add_thread_counts(app, o);
  add_lanes(app, o);
  add_rivals(app, o);
  return app;
}

/// The two questions of the source: do small messages leave at once, do large ones go on without
/// us.
void add_presets(CLI::App& app, options& o) {
  const auto small = [&o] {
    o.sizes = {8, 64, 512, 4096};
    o.base.compute_us = 20;
  };
  const auto rendezvous = [&o] {
    o.sizes = {std::uint64_t{128} << 10, std::uint64_t{512} << 10, std::uint64_t{2} << 20};
    o.base.compute_us = 100;
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

}  // namespace

void add_common(CLI::App& bench, int& code) {
  add_kind(bench, "latency", kind::latency, "Time of one operation at a time", code);
  add_kind(bench, "bandwidth", kind::bandwidth, "Bytes per second of large ones", code);
  add_kind(bench, "rate", kind::rate, "Operations per second, many in flight", code);
}

void add_multithreaded(CLI::App& bench, int& code) {
  const auto pingpong = multithreaded_options("mt-pingpong", kind::latency);
  pingpong->aggregate_bandwidth = true;
  pingpong->sizes = {8, 4096};
  add_thread_benchmark(bench, *pingpong, "Put ping-pong of several thread counts", pingpong_details)
      .callback([pingpong, &code] { code = measure(*pingpong); });

  const auto rate = multithreaded_options("mt-rate", kind::rate);
  rate->sizes = {8};
  CLI::App& app =
      add_thread_benchmark(bench, *rate, "Message rate of several thread counts", rate_details);
  add_operation(app, rate->base.op,
                {operation::put, operation::get, operation::am, operation::tag});
  app.add_option("--window", rate->base.window, "operations in flight per thread")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  app.callback([rate, &code] { code = measure(*rate); });
}

void add_background(CLI::App& bench, int& code) {
  auto o = std::make_shared<options>();
  o->benchmark = "background";
  o->base.background = true;
  o->base.op = operation::tag;
  o->sizes = {8, 65536};
  CLI::App& app = *bench.add_subcommand("background", "Ping-pong in which nobody polls or waits");
  app.footer(background_details);
  add_operation(app, o->base.op, {operation::am, operation::tag});
  add_sizes(app, o->sizes, "bytes, such as 8,1K,4M")->capture_default_str();
  add_job(app, *o);
  add_thread_counts(app, *o);
  app.callback([o, &code] { code = measure(*o); });
}

void add_overhead(CLI::App& bench, int& code) {
  auto o = std::make_shared<options>();
  o->benchmark = "latency-overhead";
  o->base.what = kind::overhead;
  o->base.op = operation::get;
  o->sizes = {8, 4096};
  CLI::App& app =
      *bench.add_subcommand("latency-overhead", "Latency, call overhead and rate of gets");
  app.footer(overhead_details);
  add_sizes(app, o->sizes, "bytes, such as 8,1K,4M")->capture_default_str();
  CLI::Option* const rounds = add_job(app, *o);
  app.add_option("--runs", o->rounds, "the same as --rounds")
      ->check(CLI::Range(1, 1000))
      ->excludes(rounds);
  const auto set = [o](double seconds) {
    o->base.time = std::chrono::milliseconds(std::max(static_cast<int>(seconds * 1000), 1));
  };
  app.add_option_function<double>("--duration", set, "length of a run in seconds")
      ->check(tools::real_range(0.001, 60))
      ->excludes(app.get_option("--time-ms"));
  add_thread_counts(app, *o);
  add_lanes(app, *o);
  add_rivals(app, *o);
  app.callback([o, &code] { code = measure(*o); });
}

void add_overlap(CLI::App& bench, int& code) {
  auto o = std::make_shared<options>();
  o->benchmark = "overlap";
  o->free_executors = true;  // whose work is to go on where nobody computes
  o->base.what = kind::overlap;
  o->base.op = operation::tag;
  o->base.window = 1;
  CLI::App& app = *bench.add_subcommand("overlap", "How much of a transfer hides behind computing");
  add_sizes(app, o->sizes, "bytes, such as 8,1K,4M (default: 1M)");
  app.add_option("--compute-us", o->base.compute_us, "microseconds of computing")
      ->check(tools::real_range(0, 1e6))
      ->capture_default_str();
  add_choice(app, "--computing", o->base.who, "which side computes between posting and waiting")
      ->default_str("both");
  add_presets(app, *o);
  add_job(app, *o);
  add_rivals(app, *o);
  app.footer(overlap_details);
  app.callback([o, &code] {
    if (o->sizes.empty()) o->sizes = {std::uint64_t{1} << 20};
    code = measure(*o);
  });
}

void add_gups(CLI::App& bench, int& code) {
  auto o = std::make_shared<options>();
  o->benchmark = "gups";
  o->base.what = kind::gups;
  o->base.op = operation::put;
  o->base.window = 1;
  o->sizes = {8};
  CLI::App& app = *bench.add_subcommand("gups", "Random updates of the other ranks' memory");
  app.footer(gups_details);
  app.add_flag("--atomic", o->base.atomic, "one remote xor instead of get, xor, put");
  app.add_flag("--full", o->base.full, "4 updates per word in every round, however long it takes");
  app.add_option("--memory", o->base.memory_bytes, "bytes per rank; the table takes half or less")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::uint64_t{16}, std::uint64_t{1} << 34))
      ->capture_default_str();
  app.add_option("--window", o->base.window, "atomic updates in flight per thread")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  add_job(app, *o);
  add_thread_counts(app, *o);
  add_lanes(app, *o);
  add_lane_lock(app, *o);
  add_rivals(app, *o);
  app.callback([o, &code] { code = measure(*o); });
}

}  // namespace heddle::bench
