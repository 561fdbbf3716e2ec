// run.cpp - alternating rounds of Heddle and what it is compared with, on all ranks of a job.
#include "bench/run.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <stdexcept>

#include "bench/bare_limit.h"
#include "bench/record.h"
#include "bench/report.h"
#include "bench/result_file.h"
#include "bench/rival_runner.h"
#include "bench/round.h"
#include "exit_status.h"
#include "parts/bare.h"

namespace heddle::bench {
namespace {

using namespace std::chrono_literals;

/// Somebody who is measured in turn. `round` is called on every rank; rank 0's answer counts.
struct contender {
  series results;
  std::function<round_result()> round;
};

/// What stays the same for all sizes.
struct context {
  const options& o;
  station& at;
  std::vector<int> cores;  // that the job may use
  std::string backend;

  [[nodiscard]] bool reports() const { return at.self() == 0; }
  [[nodiscard]] bare::core_pair pair() const {
    if (!o.bind_cores) return {};
    return {cores.front(), cores[1 % cores.size()]};
  }
};

/// One round of the first `ranks` ranks: rank 0 learns the mean over the pairs, and its own stamps.
round_result heddle_round(station& at, rounds& own, int ranks) {
  if (at.self() >= ranks) return {};
  round_result mine = own.next();
  lane& l = at.lane_of(0);
  const tag result = tag_of(purpose::result, 0);
  double& seconds = mine.seconds_per_op;
  if (at.self() != 0 && at.initiates()) {
    require(l.send(0, result, std::as_bytes(std::span(&seconds, 1))), "report to rank 0");
  }
  if (at.self() != 0) return mine;
  for (rank from = 2; from < ranks; from += 2) {
    double theirs = 0;
    require(l.recv(from, result, std::as_writable_bytes(std::span(&theirs, 1))).code, "collect");
    seconds += theirs;
  }
  const int pairs = ranks / 2;
  seconds /= pairs;
  return mine;
}

contender heddle_contender(const context& c, const spec& s, const char* label, int ranks) {
  const bool crowded =
      static_cast<std::size_t>(ranks) * static_cast<std::size_t>(s.threads) > c.cores.size();
  auto own = std::make_shared<rounds>(c.at, s, crowded);
  return {{.label = label, .library = "heddle", .ranks = ranks},
          [&at = c.at, own, ranks] { return heddle_round(at, *own, ranks); }};
}

/// `seconds` runs on rank 0 only, while the others sleep.
contender outside_contender(const context& c, const std::string& label,
                            std::function<double()> seconds) {
  return {{.label = label, .library = label},
          [reports = c.reports(), seconds = std::move(seconds)]() -> round_result {
            return reports ? round_result{.seconds_per_op = seconds(), .stamps = {}}
                           : round_result{};
          }};
}

rival_task task_for(const options& o, const spec& s, const std::string& backend) {
  return {.what = s,
          .backend = backend,
          .ucx_test = o.ucx_test,
          .limit = std::chrono::seconds(o.rival_limit_s)};
}

contender library_contender(const context& c, const spec& s, rival who) {
  rival_task t = task_for(c.o, s, c.backend);
  if (c.o.bind_cores) t.cores = c.cores;
  const std::shared_ptr<rival_runner> runs = make_rival_runner(who, t);
  return outside_contender(c, name_of(who), [runs] { return runs->next().seconds_per_op.value(); });
}

std::function<double()> require_limit(const spec& s, const std::string& backend,
                                      bare::core_pair cores) {
  auto limit = bare_limit(s, backend, cores);
  if (limit) return limit;
  throw tools::usage_error(
      fmt::format("there is no bare limit to compare {} {} of {} B over {} with", name_of(s.what),
                  name_of(s.op), s.bytes, backend));
}

contender bare_contender(const context& c, const spec& s) {
  return outside_contender(c, "bare", require_limit(s, c.backend, c.pair()));
}

std::vector<contender> contenders_for(const context& c, const spec& s) {
  std::vector<contender> all;
  all.push_back(heddle_contender(c, s, "heddle", c.o.ranks));
  for (const rival r : c.o.rivals) {
    if (is_library(r)) all.push_back(library_contender(c, s, r));
    if (r == rival::bare) all.push_back(bare_contender(c, s));
    if (r == rival::pair) all.push_back(heddle_contender(c, s, "pair", 2));
  }
  return all;
}

void print_line(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

/// One round of one contender. A rival that fails is left out from then on, which only rank 0,
/// whose child it is, has to know.
void play(const contender& who, const spec& what, bool reports, series& s) {
  if (!s.failure.empty()) return;
  try {
    const round_result r = who.round();
    if (!reports) return;
    s.figures.push_back(figure(what, r.seconds_per_op));
    for (const double seconds : r.stamps) s.stamps.push_back(figure(what, seconds));
  } catch (const rival_failure& why) {
    s.failure = why.what();
  }
}

/// Adds one round of everybody to `c`; the same order on every rank, a barrier before each.
void play_round(const context& ctx, std::vector<contender>& all, case_result& c) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    ctx.at.job().barrier();
    play(all[i], c.what, ctx.reports(), c.contenders[i]);
  }
  ctx.at.job().barrier();
  if (!ctx.reports()) return;
  c.cache_line_ns.push_back(bare::cache_line_one_way(ctx.pair(), 20ms) * 1e9);
  print_line(round_line(c));
}

case_result measure_case(const context& ctx, const spec& s) {
  std::vector<contender> all = contenders_for(ctx, s);
  case_result c{.what = s, .backend = ctx.backend, .contenders = {}};
  for (const contender& who : all) c.contenders.push_back(who.results);
  if (ctx.reports()) print_line(title(c) + '\n' + round_heading(c));
  for (int round = 0; round < ctx.o.rounds; ++round) play_round(ctx, all, c);
  if (ctx.reports()) print_line(summary_table(c));
  ctx.at.job().barrier();  // before the buffers are withdrawn
  return c;
}

/// Ties the calling thread, and those it starts from now on, to the cores of a rank.
void bind_rank(const options& o, const std::vector<int>& allowed, int rank) {
  if (o.bind_cores) bare::pin_this_thread(cores_of_rank(allowed, rank, o.base.threads));
}

}  // namespace

void check_options(const options& o) {
  const auto refuse = [](const char* why) { throw tools::usage_error(why); };
  const auto has = [&o](rival r) {
    return std::find(o.rivals.begin(), o.rivals.end(), r) != o.rivals.end();
  };
  if (o.ranks % 2 != 0) refuse("--ranks must be even: ranks work in pairs");
  if (has(rival::pair) && o.ranks == 2) refuse("--compare pair needs --ranks above 2");
  for (const rival r : o.rivals) {
    if (is_library(r)) check_rival(r, task_for(o, o.base, o.backend));
  }
  if (o.base.target == target_mode::computing && !is_round_trip(o.base.op)) {
    refuse("--target computing is for --op get and fetch-add: the others need the target's help");
  }
  for (const std::uint64_t bytes : o.sizes) {
    if (o.base.op == operation::fetch_add && bytes != 8) refuse("fetch-add works on 8 bytes");
    if (bytes == 0 && o.base.op == operation::put) refuse("a put needs at least one byte");
    if (bytes == 0 && o.base.what == kind::bandwidth) refuse("no bandwidth without bytes");
    spec s = o.base;
    s.bytes = bytes;
    if (has(rival::bare) && o.backend != "auto") (void)require_limit(s, o.backend, {});
  }
}

std::unique_ptr<world> join(const options& o) {
  if (o.backend != "auto") setenv("HEDDLE_BACKENDS", o.backend.c_str(), 1);
  const std::vector<int> allowed = bare::allowed_cores();
  // `heddle run` tells the rank before there is a world, whose own threads are then bound as well.
  if (const char* const told = std::getenv("HEDDLE_RANK")) bind_rank(o, allowed, std::atoi(told));
  auto job = std::make_unique<world>();
  bind_rank(o, allowed, job->rank());
  return job;
}

void run_in_job(const options& o) {
  check_options(o);
  const std::vector<int> allowed = bare::allowed_cores();
  const std::unique_ptr<world> job = join(o);
  station at(*job, o);
  const context ctx{o, at, allowed, job->route(at.peer())};
  if (ctx.reports()) check_writable(o.json_file, "--json");
  std::vector<record> records;
  for (const std::uint64_t bytes : o.sizes) {
    spec s = o.base;
    s.bytes = bytes;
    const case_result c = measure_case(ctx, s);
    if (!ctx.reports()) continue;
    const std::vector<record> more = records_of(c);
    records.insert(records.end(), more.begin(), more.end());
  }
  if (ctx.reports() && !o.json_file.empty()) write_records(o.json_file, records);
}

}  // namespace heddle::bench
