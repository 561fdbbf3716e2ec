// overhead.cpp - runs of gets one by one and of gets in a window, and the means of the runs.
#include "bench/overhead.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "bench/command.h"
#include "bench/exchange.h"
#include "bench/offload_cost.h"
#include "bench/session.h"
#include "bench/threads.h"
#include "bench/window.h"

namespace heddle::bench {
namespace {

constexpr const char* details =
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
spins on a flag; reading the clock is in both times and is printed.

--offload: gets of memory that is not mapped, by one thread, in progress modes inline,
where try_get copies through the kernel, and dedicated, where it only hands the get to
an executor that is awake on a second core; in turn within every round, a world for
each turn. Told are the medians of a round, and in cache lines that were measured
beside them the overhead of handing in, less one reading of the clock, and the latency
that is added.)";

/// Of one run on one rank, or all of them; rate in gets per second, times in seconds.
struct run_figures {
  double latency = 0, overhead = 0, rate = 0;
};

using duration = std::chrono::duration<double>;

constexpr std::uint64_t dropped_samples = 1000;
constexpr int most_in_flight = 256;
constexpr std::uint64_t most_bytes_in_flight = std::uint64_t{64} << 20;

int window_for(std::uint64_t bytes, int threads) {
  const std::uint64_t each =
      std::max<std::uint64_t>(bytes, 1) * static_cast<std::uint64_t>(threads);
  return static_cast<int>(
      std::clamp<std::uint64_t>(most_bytes_in_flight / each, 1, most_in_flight));
}

/// One thread of an initiating rank.
class getter {
 public:
  explicit getter(const seat& s)
      : seat_(s),
        lane_(s.own_lane()),
        from_(
            s.gear.their_table().at(static_cast<std::size_t>(s.thread) * s.gear.layout().stride)) {}

  /// One get at a time.
  void measure_times(duration time, run_figures& result) {
    const clock::time_point begin = clock::now();
    double latency = 0, overhead = 0;
    std::uint64_t taken = 0, counted = 0;
    for (clock::time_point t0 = begin; t0 - begin < time; ++taken) {
      t0 = clock::now();
      const status posted = post();
      const clock::time_point t1 = clock::now();
      if (posted == status::posted) require(lane_.wait(ended_), "get");
      const clock::time_point t2 = clock::now();
      if (taken < dropped_samples && t0 - begin < time / 2) continue;
      overhead += seconds_between(t0, t1);
      latency += seconds_between(t0, t2);
      ++counted;
    }
    const auto n = static_cast<double>(std::max<std::uint64_t>(counted, 1));
    result.latency = latency / n;
    result.overhead = overhead / n;
  }
  /// As many as the window allows.
  void measure_rate(duration time, run_figures& result) {
    constexpr std::uint64_t between_looks_at_the_clock = 64;
    window in_flight(seat_.turns(), seat_.what.window);
    const clock::time_point begin = clock::now();
    std::uint64_t done = 0;
    while (clock::now() - begin < time) {
      for (std::uint64_t i = 0; i < between_looks_at_the_clock; ++i) {
        in_flight.post([&](completion c, std::size_t slot) {
          return lane_.try_get(seat_.gear.landing(seat_.thread, slot), from_, c);
        });
      }
      done += between_looks_at_the_clock;
    }
    in_flight.drain();
    result.rate = static_cast<double>(done) / seconds_between(begin, clock::now());
  }

 private:
  /// Until accepted. When refused for long it gives the core away: whoever makes room needs one.
  status post() {
    ended_.reset();
    for (unsigned refusals = 1;; ++refusals) {
      const status s = lane_.try_get(seat_.gear.landing(seat_.thread, 0), from_, ended_);
      if (!is_busy(s)) {
        require(s, "get");
        return s;
      }
      if (refusals % 64 == 0) std::this_thread::yield();
    }
  }

  seat seat_;
  lane& lane_;
  remote_address from_;
  flag ended_;
};

/// One kind of memory and one thread count, over the runs.
class subject {
 public:
  subject(session& in, spec s) : in_(in), spec_(s), gear_(in.at(), s) {}

  [[nodiscard]] std::string name() const {
    if (gear_.their_table().mapped()) return "get-mapped";
    return in_.backend() == "shm" ? "get-unmapped" : "get";
  }
  [[nodiscard]] int threads() const { return spec_.threads; }
  [[nodiscard]] const std::vector<run_figures>& runs() const { return runs_; }

  /// Rank 0 learns the figures.
  void run() {
    in_.bind(spec_.threads);
    std::vector<run_figures> of_threads(static_cast<std::size_t>(spec_.threads));
    const duration time = spec_.time;
    for (const auto part : {&getter::measure_times, &getter::measure_rate}) {
      in_.job().barrier();
      if (in_.at().initiates()) {
        on_threads(spec_.threads, [&](int t) {
          getter one({in_.at(), gear_, spec_, t, false});
          (one.*part)(time, of_threads[static_cast<std::size_t>(t)]);
        });
      }
      in_.job().barrier();
    }
    const run_figures mine = total(of_threads);
    add(collect(in_, std::span(&mine, 1)));
  }

 private:
  /// Times: the mean. Rate: the sum.
  static run_figures total(const std::vector<run_figures>& threads) {
    run_figures sum;
    for (const run_figures& f : threads) {
      sum.latency += f.latency / static_cast<double>(threads.size());
      sum.overhead += f.overhead / static_cast<double>(threads.size());
      sum.rate += f.rate;
    }
    return sum;
  }
  /// The mean over the initiating ranks, every other one.
  void add(const std::vector<run_figures>& ranks) {
    if (ranks.empty()) return;
    run_figures mean;
    const auto initiators = static_cast<double>(ranks.size()) / 2;
    for (std::size_t r = 0; r < ranks.size(); r += 2) {
      mean.latency += ranks[r].latency / initiators;
      mean.overhead += ranks[r].overhead / initiators;
      mean.rate += ranks[r].rate / initiators;
    }
    runs_.push_back(mean);
  }

  session& in_;
  spec spec_;
  equipment gear_;
  std::vector<run_figures> runs_;
};

/// A figure of the table and of the records.
struct column {
  const char* metric;
  const char* unit;
  double run_figures::*field;
  double scale;
};
constexpr column columns[]{{"latency_mean", "us", &run_figures::latency, 1e6},
                           {"overhead_mean", "us", &run_figures::overhead, 1e6},
                           {"rate_mean", "M/s", &run_figures::rate, 1e-6}};

std::vector<double> values_of(const subject& s, const column& c) {
  std::vector<double> all;
  for (const run_figures& f : s.runs()) all.push_back(f.*c.field * c.scale);
  return all;
}

record record_of(session& in, const subject& s, std::uint64_t bytes, const column& c) {
  const std::vector<double> runs = values_of(s, c);
  const mean_estimate mean = estimate_mean(runs);
  record r{.benchmark = in.what().benchmark,
           .op = s.name(),
           .backend = in.backend(),
           .library = "heddle",
           .ranks = in.what().ranks,
           .threads = s.threads(),
           .bytes = bytes,
           .metric = c.metric,
           .unit = c.unit};
  set_statistics(r, summarize(runs));
  r.median = mean.mean;
  r.ci95_low = mean.ci95.low;
  r.ci95_high = mean.ci95.high;
  return r;
}

constexpr auto row_layout = "{:<6}{:<14}{:>8}{:>20}{:>20}{:>20}{:>16}";

void print_run(session& in, int number, const subject& s, double cache_line) {
  const run_figures& f = s.runs().back();
  in.print(
      fmt::format(row_layout, number, s.name(), s.threads(), fmt::format("{:.3f}", f.latency * 1e6),
                  fmt::format("{:.3f}", f.overhead * 1e6), fmt::format("{:.3f}", f.rate * 1e-6),
                  fmt::format("{:.1f}", cache_line * 1e9)));
}

void conclude(session& in, const subject& s, std::uint64_t bytes) {
  std::string line = fmt::format("{:<6}{:<14}{:>8}", "mean", s.name(), s.threads());
  for (const column& c : columns) {
    const record r = record_of(in, s, bytes, c);
    const double half = (r.ci95_high - r.ci95_low) / 2;
    line += fmt::format("{:>20}", fmt::format("{:.3f} +-{:.3f}", r.median, half));
    in.keep({r});
  }
  in.print(line);
}

using subjects = std::vector<std::unique_ptr<subject>>;

subjects subjects_for(session& in, std::uint64_t bytes) {
  subjects all;
  for (const int threads : in.what().thread_counts) {
    spec s = in.what().base;
    s.bytes = bytes;
    s.threads = threads;
    s.window = window_for(bytes, threads);
    for (const buffer_kind kind : {buffer_kind::exposed, buffer_kind::plain}) {
      s.buffers = kind;
      if (kind == buffer_kind::exposed || in.backend() == "shm") {
        all.push_back(std::make_unique<subject>(in, s));
      }
    }
  }
  return all;
}

void measure_size(session& in, std::uint64_t bytes) {
  const subjects all = subjects_for(in, bytes);
  in.print(
      fmt::format("latency-overhead get {} B over {}, {} ranks; the mean has a 95 % interval "
                  "by Student's t, df = {}",
                  bytes, in.backend(), in.what().ranks, in.what().rounds - 1));
  in.print(fmt::format(row_layout, "run", "op", "threads", "latency, us", "overhead, us",
                       "rate, M/s", "cache line, ns"));
  for (int run = 1; run <= in.what().rounds; ++run) {
    for (const auto& s : all) {
      s->run();
      if (in.reports()) print_run(in, run, *s, in.cache_line());
    }
  }
  in.job().barrier();  // before anybody's buffers are withdrawn
  if (!in.reports()) return;
  for (const auto& s : all) conclude(in, *s, bytes);
}

void run_overhead_in_job(const options& o) {
  session in(o);
  in.print(
      fmt::format("reading the clock takes {:.0f} ns, which is in every time", clock_cost() * 1e9));
  for (const std::uint64_t bytes : o.sizes) measure_size(in, bytes);
  in.write();
}

}  // namespace

void add_overhead(CLI::App& bench, int& code) {
  auto o = std::make_shared<options>();
  o->benchmark = "latency-overhead";
  o->base.op = operation::get;
  o->sizes = {8, 4096};
  CLI::App& app =
      *bench.add_subcommand("latency-overhead", "Latency, call overhead and rate of gets");
  app.footer(details);
  add_sizes(app, o->sizes, "bytes, such as 8,1K,4M")->capture_default_str();
  CLI::Option* const rounds = add_job(app, *o);
  app.add_option("--runs", o->rounds, "the same as --rounds")
      ->check(CLI::Range(1, 1000))
      ->excludes(rounds);
  const auto set = [o](double seconds) {
    o->base.time = std::chrono::milliseconds(std::max(static_cast<int>(seconds * 1000), 1));
  };
  app.add_option_function<double>("--duration", set, "length of a run in seconds")
      ->check(CLI::Range(0.001, 60.0))
      ->excludes(app.get_option("--time-ms"));
  add_thread_counts(app, *o);
  add_lanes(app, *o);
  const auto offload = std::make_shared<bool>(false);
  app.add_flag("--offload", *offload,
               "measure instead what leaving a get to an executor costs, in cache lines; over shm");
  app.callback([o, offload, &code] {
    check_options(*o);
    if (*offload) {
      check_offload_cost(*o);
      o->bind = {tools::binding::unit::none};  // a world's threads stay where its maker was tied to
    }
    const auto body = *offload ? run_offload_cost_in_job : run_overhead_in_job;
    code = on_every_rank(*o, [&] { body(*o); });
  });
}

}  // namespace heddle::bench
