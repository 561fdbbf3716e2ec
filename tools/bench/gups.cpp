// gups.cpp - the updates, the rounds and the verdict.
#include "bench/gups.h"

#include <algorithm>
#include <numeric>

#include "bench/command.h"
#include "bench/gups_stream.h"
#include "bench/rival_runner.h"
#include "bench/session.h"
#include "bench/threads.h"
#include "bench/window.h"

namespace heddle::bench {
namespace {

constexpr const char* details =
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

struct gups_options {
  options job;
  std::uint64_t memory_bytes = 20'000'000;
  bool atomic = false;
  bool full = false;
};

/// One thread's updates.
class updater {
 public:
  updater(session& in, const gups_options& o, const symmetric<std::uint64_t>& table, const spec& s,
          int thread)
      : lane_(in.at().lane_of(s, thread)),
        turns_(in.at().turns_of(s, thread)),
        window_(turns_, s.window),
        o_(o),
        table_(table) {}

  void run(const gups_plan& plan, int from, int thread) {
    gups_stream numbers = plan.stream(from, thread);
    for (std::uint64_t i = 0; i < plan.updates; ++i) {
      const std::uint64_t random = numbers.next();
      const auto word = table_.at(plan.target(from, random), plan.index(random));
      o_.atomic ? exclusive_or(word, random) : get_and_put(word, random);
    }
    window_.drain();
  }

 private:
  void exclusive_or(remote_ptr<std::uint64_t> word, std::uint64_t random) {
    window_.post([&](completion c, std::size_t) {
      return lane_.try_atomic<std::uint64_t>(atomic_op::bit_xor, word, random, nullptr, c);
    });
  }
  void get_and_put(remote_ptr<std::uint64_t> word, std::uint64_t random) {
    require(turns_.get(value_, word), "get");
    value_ ^= random;
    require(turns_.put(value_, word), "put");
  }

  lane& lane_;
  locked_lane turns_;
  window window_;
  const gups_options& o_;
  const symmetric<std::uint64_t>& table_;
  std::uint64_t value_ = 0;
};

/// The rounds with one thread count.
class gups_rounds {
 public:
  gups_rounds(session& in, const gups_options& o, const symmetric<std::uint64_t>& table,
              int threads)
      : in_(in),
        o_(o),
        table_(table),
        spec_(o.job.base),
        pacer_(table.size(), threads, o.job.base.time, o.full) {
    spec_.threads = threads;
    plan_ = {.ranks = o.job.ranks,
             .threads = threads,
             .words = table.size(),
             .first = far_from_the_beginning};
  }

  /// 10^9 updates per second of the whole job; only rank 0's answer counts.
  round_figure next() {
    in_.bind(spec_.threads);
    while (pacer_.learning()) pacer_.end_run(agree(in_, run()));
    const double seconds = run();
    verify();
    return {.figure = updates_of_all() * 1e-9 / std::max(seconds, 1e-9)};
  }
  /// The share of the updates that was lost in each round, on rank 0.
  [[nodiscard]] const std::vector<double>& losses() const { return losses_; }

 private:
  [[nodiscard]] double updates_of_all() const {
    return static_cast<double>(plan_.pieces() * plan_.updates);
  }
  /// On fresh tables; on rank 0 the seconds of the slowest rank.
  double run() {
    reset_table(table_.local());
    plan_.first += plan_.pieces() * plan_.updates;
    plan_.updates = pacer_.updates();
    in_.job().barrier();
    const clock::time_point begin = clock::now();
    on_threads(plan_.threads, [this](int t) {
      updater(in_, o_, table_, spec_, t).run(plan_, in_.at().self(), t);
    });
    const double mine = seconds_between(begin, clock::now());
    const std::vector<double> all = collect(in_, std::span(&mine, 1));
    return all.empty() ? 0 : *std::max_element(all.begin(), all.end());
  }
  void verify() {
    in_.job().barrier();
    const std::uint64_t mine = count_lost(table_.local(), plan_, in_.at().self());
    const std::vector<std::uint64_t> all = collect(in_, std::span(&mine, 1));
    if (!in_.reports()) return;
    const auto lost = std::accumulate(all.begin(), all.end(), std::uint64_t{0});
    losses_.push_back(static_cast<double>(lost) / updates_of_all());
  }

  session& in_;
  const gups_options& o_;
  const symmetric<std::uint64_t>& table_;
  spec spec_;
  gups_plan plan_;
  gups_pacer pacer_;
  std::vector<double> losses_;
};

using all_rounds_of = std::vector<std::shared_ptr<gups_rounds>>;

rival_task task_for(const gups_options& o, const std::string& backend, int threads) {
  rival_task t{.what = o.job.base,
               .backend = backend,
               .limit = std::chrono::seconds(o.job.rival_limit_s),
               .gups = gups_task{o.memory_bytes, o.atomic}};
  t.what.threads = threads;
  return t;
}

contender rival_contender(const session& in, const gups_options& o, rival who, int threads) {
  rival_task t = task_for(o, in.backend(), threads);
  t.cores = in.bound_cores(threads);
  const std::shared_ptr<rival_runner> runs = make_rival_runner(who, t);
  return {{.label = fmt::format("{} T={}", name_of(who), threads),
           .library = name_of(who),
           .threads = threads},
          [runs, reports = in.reports()]() -> round_figure {
            if (!reports) return {};
            return {.figure = 1e-9 / runs->next().seconds_per_op.value()};
          }};
}

/// Heddle with every thread count, in the order of `runs`, and then every rival with each.
std::vector<contender> contenders_for(session& in, const gups_options& o,
                                      const all_rounds_of& runs) {
  const std::vector<int>& counts = in.what().thread_counts;
  std::vector<contender> all;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    all.push_back({{.label = fmt::format("heddle T={}", counts[i]),
                    .library = "heddle",
                    .ranks = in.what().ranks,
                    .threads = counts[i]},
                   [run = runs[i]] { return run->next(); }});
  }
  for (const rival who : o.job.rivals) {
    for (const int threads : counts) all.push_back(rival_contender(in, o, who, threads));
  }
  return all;
}

/// Prints and keeps the losses; whether they are tolerable.
bool judge(session& in, const case_result& c, const all_rounds_of& runs, double tolerated) {
  bool good = true;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const summary losses = summarize(runs[i]->losses());
    const bool passed = losses.maximum <= tolerated;
    good = good && passed;
    in.print(fmt::format("{:<13}lost updates, at most: {:.4f} %, tolerated {} %: {}",
                         c.contenders[i].label, losses.maximum * 100, tolerated * 100,
                         passed ? "verified" : "FAILED"));
    record r = records_of(c)[i];
    r.metric = "lost_updates";
    r.unit = "1";
    set_statistics(r, losses);
    in.keep({r});
  }
  return good;
}

case_result empty_case(session& in, const gups_options& o, const std::vector<contender>& all) {
  return {.what = o.job.base,
          .benchmark = o.job.benchmark,
          .op = o.atomic ? "atomic" : "get-put",
          .measure = {"updates", "GUP/s"},
          .backend = in.backend(),
          .contenders = entrants(all)};
}

int run_gups_in_job(const gups_options& o) {
  session in(o.job);
  const auto table = in.job().symmetric<std::uint64_t>(gups_words(o.memory_bytes));
  all_rounds_of runs;
  for (const int threads : o.job.thread_counts) {
    runs.push_back(std::make_shared<gups_rounds>(in, o, table, threads));
  }
  std::vector<contender> all = contenders_for(in, o, runs);
  case_result c = empty_case(in, o, all);
  in.print(fmt::format("gups {} over {}, {} ranks, {} words each: 10^9 updates per second", c.op,
                       c.backend, o.job.ranks, table.size()));
  in.hold_rounds(all, c);
  in.conclude(c);
  const double tolerated = o.atomic ? 0 : tolerated_losses;
  const bool good = agree(in, in.reports() ? judge(in, c, runs, tolerated) : true);
  in.write();
  in.job().barrier();  // before anybody's table is withdrawn
  return good ? tools::success : tools::corrupted;
}

void check(const gups_options& o) {
  if (o.job.base.window != 1 && !o.atomic) {
    throw tools::usage_error("--window is for --atomic: a get and its put cannot overlap others");
  }
  if (!o.job.rivals.empty() && (o.job.ranks != 2 || o.full)) {
    throw tools::usage_error("--compare needs --ranks 2, and no --full: that is how others run");
  }
  for (const rival who : o.job.rivals) {
    check_rival(who, task_for(o, o.job.backend, most_threads(o.job)));
  }
}

}  // namespace

void add_gups(CLI::App& bench, int& code) {
  auto o = std::make_shared<gups_options>();
  o->job.benchmark = "gups";
  o->job.base.what = kind::rate;
  o->job.base.window = 1;
  CLI::App& app = *bench.add_subcommand("gups", "Random updates of the other ranks' memory");
  app.footer(details);
  app.add_flag("--atomic", o->atomic, "one remote xor instead of get, xor, put");
  app.add_flag("--full", o->full, "4 updates per word in every round, however long it takes");
  app.add_option("--memory", o->memory_bytes, "bytes per rank; the table takes half or less")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::uint64_t{16}, std::uint64_t{1} << 34))
      ->capture_default_str();
  app.add_option("--window", o->job.base.window, "atomic updates in flight per thread")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  add_job(app, o->job);
  add_thread_counts(app, o->job);
  add_lanes(app, o->job);
  add_lane_lock(app, o->job);
  add_rivals(app, o->job);
  app.callback([o, &code] {
    check(*o);
    code = on_every_rank(o->job, [&] { return run_gups_in_job(*o); });
  });
}

}  // namespace heddle::bench
