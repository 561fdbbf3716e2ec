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

/// A command that measures in alternating rounds, and what its options set.
struct benchmark {
  CLI::App& app;
  std::shared_ptr<options> o;
};

/// With the options that all of them have.
benchmark add_benchmark(CLI::App& bench, int& code, const std::string& name, const spec& what,
                        const char* help, const char* details = "") {
  auto o = std::make_shared<options>();
  o->benchmark = name;
  o->base = what;
  CLI::App& app = *bench.add_subcommand(name, help);
  app.footer(details);
  add_job(app, *o);
  app.callback([o, &code] { code = measure(*o); });
  return {app, o};
}

void add_window(const benchmark& b, const char* help) {
  b.app.add_option("--window", b.o->base.window, help)
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
}

void add_buffers(const benchmark& b) {
  add_choice(b.app, "--buffers", b.o->base.buffers,
             "ordinary memory, or memory from world::allocate");
}

void add_kind(CLI::App& bench, int& code, kind what, operation op, const char* help) {
  const bool bandwidth = what == kind::bandwidth;
  const spec s{.what = what,
               .op = op,
               .window = bandwidth ? 4 : 64,  // large ones need few, and more leave the caches
               .buffers = bandwidth ? buffer_kind::plain : buffer_kind::exposed};
  const benchmark b = add_benchmark(bench, code, name_of(what), s, help);
  add_sizes(b.app, b.o->sizes, {bandwidth ? std::uint64_t{1} << 20 : 8});
  add_choice(b.app, "--op", b.o->base.op, "operation");
  add_window(b, "operations in flight");
  add_choice(b.app, "--target", b.o->base.target,
             "what the target does during get and fetch-add: wait, or compute without any call");
  add_buffers(b);
  add_thread_counts(b.app, *b.o);
  add_lanes(b.app, *b.o);
  add_lane_lock(b.app, *b.o);
  add_rivals(b.app, *b.o);
  if (what == kind::latency) add_beside(b.app, *b.o);
}

benchmark add_multithreaded(CLI::App& bench, int& code, const char* name, kind what,
                            const std::vector<std::uint64_t>& sizes, const char* help,
                            const char* details) {
  const spec s{.what = what, .op = operation::put, .buffers = buffer_kind::exposed};
  benchmark b = add_benchmark(bench, code, name, s, help, details);
  b.o->thread_counts = {1, 2, 4, 8};
  add_sizes(b.app, b.o->sizes, sizes);
  add_buffers(b);
  add_thread_counts(b.app, *b.o);
  add_lanes(b.app, *b.o);
  add_rivals(b.app, *b.o);
  return b;
}

void add_background(CLI::App& bench, int& code) {
  const benchmark b =
      add_benchmark(bench, code, "background", {.op = operation::tag, .background = true},
                    "Ping-pong in which nobody polls or waits", background_details);
  add_choice(b.app, "--op", b.o->base.op, "operation", {"am", "tag"});
  add_sizes(b.app, b.o->sizes, {8, 65536});
  add_thread_counts(b.app, *b.o);
}

void add_overhead(CLI::App& bench, int& code) {
  const benchmark b =
      add_benchmark(bench, code, "latency-overhead", {.what = kind::overhead, .op = operation::get},
                    "Latency, call overhead and rate of gets", overhead_details);
  add_sizes(b.app, b.o->sizes, {8, 4096});
  b.app.add_option("--runs", b.o->rounds, "the same as --rounds")
      ->check(CLI::Range(1, 1000))
      ->excludes(b.app.get_option("--rounds"));
  const auto set = [o = b.o](double seconds) {
    o->base.time = std::chrono::milliseconds(std::max(static_cast<int>(seconds * 1000), 1));
  };
  b.app.add_option_function<double>("--duration", set, "length of a run in seconds")
      ->check(tools::real_range(0.001, 60))
      ->excludes(b.app.get_option("--time-ms"));
  add_thread_counts(b.app, *b.o);
  add_lanes(b.app, *b.o);
  add_rivals(b.app, *b.o);
}

/// A question of the source: do small messages leave at once, do large ones go on without us?
CLI::Option* add_preset(const benchmark& b, const char* name,
                        const std::vector<std::uint64_t>& sizes, double compute_us,
                        const char* help) {
  const auto set = [o = b.o, sizes, compute_us] {
    o->sizes = sizes;
    o->base.compute_us = compute_us;
  };
  CLI::Option* const preset = b.app.add_flag_callback(name, set, help);
  for (const char* const other : {"--sizes", "--compute-us"})
    preset->excludes(b.app.get_option(other));
  return preset;
}

void add_overlap(CLI::App& bench, int& code) {
  constexpr std::uint64_t kib = 1024;
  const benchmark b = add_benchmark(
      bench, code, "overlap", {.what = kind::overlap, .op = operation::tag, .window = 1},
      "How much of a transfer hides behind computing", overlap_details);
  b.o->free_executors = true;  // whose work is to go on where nobody computes
  add_sizes(b.app, b.o->sizes, {1024 * kib});
  b.app.add_option("--compute-us", b.o->base.compute_us, "microseconds of computing")
      ->check(tools::real_range(0, 1e6))
      ->capture_default_str();
  add_choice(b.app, "--computing", b.o->base.who,
             "which side computes between posting and waiting");
  add_preset(b, "--small", {8, 64, 512, 4096}, 20,
             "20 us of computing, 8 B to 4 KiB: sent at once by every backend")
      ->excludes(add_preset(b, "--rendezvous", {128 * kib, 512 * kib, 2048 * kib}, 100,
                            "100 us of computing, 128 KiB to 2 MiB: sent by rendezvous"));
  add_rivals(b.app, *b.o);
}

void add_gups(CLI::App& bench, int& code) {
  const benchmark b =
      add_benchmark(bench, code, "gups", {.what = kind::gups, .op = operation::put, .window = 1},
                    "Random updates of the other ranks' memory", gups_details);
  spec& s = b.o->base;
  b.o->sizes = {8};
  b.app.add_flag("--atomic", s.atomic, "one remote xor instead of get, xor, put");
  b.app.add_flag("--full", s.full, "4 updates per word in every round, however long it takes");
  b.app.add_option("--memory", s.memory_bytes, "bytes per rank; the table takes half or less")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::uint64_t{16}, std::uint64_t{1} << 34))
      ->capture_default_str();
  add_window(b, "atomic updates in flight per thread");
  add_thread_counts(b.app, *b.o);
  add_lanes(b.app, *b.o);
  add_lane_lock(b.app, *b.o);
  add_rivals(b.app, *b.o);
}

}  // namespace

void add_benchmarks(CLI::App& bench, int& code) {
  add_kind(bench, code, kind::latency, operation::am, "Time of one operation at a time");
  add_kind(bench, code, kind::bandwidth, operation::tag, "Bytes per second of large ones");
  add_kind(bench, code, kind::rate, operation::put, "Operations per second, many in flight");
  add_multithreaded(bench, code, "mt-pingpong", kind::latency, {8, 4096},
                    "Put ping-pong of several thread counts", pingpong_details)
      .o->aggregate_bandwidth = true;
  const benchmark rate = add_multithreaded(bench, code, "mt-rate", kind::rate, {8},
                                           "Message rate of several thread counts", rate_details);
  add_choice(rate.app, "--op", rate.o->base.op, "operation", {"am", "get", "put", "tag"});
  add_window(rate, "operations in flight per thread");
  add_overhead(bench, code);
  add_overlap(bench, code);
  add_background(bench, code);
  add_gups(bench, code);
}

}  // namespace heddle::bench
