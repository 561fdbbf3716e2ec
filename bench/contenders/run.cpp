// SPDX-License-Identifier: BSD-3-Clause
// run.cpp - alternating rounds of Heddle and what it is compared with, on all ranks of a job.
#include <fmt/core.h>
#include <heddle/collectives.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <stdexcept>

#include "contenders/command.h"
#include "contenders/rivals.h"
#include "contenders/session.h"
#include "exit_status.h"
#include "harness/rounds.h"
#include "kernels/kernels.h"
#include "libraries/heddle.h"

namespace heddle::bench {
namespace {

/// One rank's gups: its part of the table, and the words of its threads.
measurement heddle_gups(session& in, const spec& s) {
  const everybody together = [&in](double mine) {
    std::vector<double> all(static_cast<std::size_t>(in.what().ranks));
    require(allgather(in.at().first_lane(), std::span(&std::as_const(mine), 1), std::span(all)),
            "collect results");
    return all;
  };
  const auto table = std::make_shared<symmetric<std::uint64_t>>(
      in.job().symmetric<std::uint64_t>(gups_words(s.memory_bytes)));
  const auto all = std::make_shared<gups_rounds>(
      together, table->local(), s, in.what().ranks, in.at().self(),
      [&in, s, table](const gups_plan& plan, int thread) {
        heddle_path own({.at = in.at(), .what = s, .thread = thread});
        gups_updates(
            own, plan, in.at().self(), thread, s.atomic,
            [&](int rank, std::uint64_t i) -> remote_address { return table->at(rank, i); });
      });
  return [all] { return all->next(); };
}

/// One round of the first `ranks` ranks: rank 0 learns the mean over the pairs, and its own p99.
round_result round_of_pairs(session& in, const measurement& own, int ranks) {
  const std::size_t metrics = metrics_of(in.what().base).size();
  round_result mine;
  if (in.at().self() < ranks) mine = own();
  mine.figures.resize(metrics);
  const std::vector<double> all = collect(in, std::span<const double>(mine.figures));
  if (!in.reports()) return {};
  const auto pairs = static_cast<std::size_t>(ranks) / 2;
  for (std::size_t i = 0; i < metrics; ++i) {
    double sum = 0;
    for (std::size_t p = 0; p < pairs; ++p) sum += all[2 * p * metrics + i];
    mine.figures[i] = sum / static_cast<double>(pairs);
  }
  return mine;
}

/// Pairs of ranks, measured by the kernels that measure the rivals; of gups all ranks together.
series heddle_contender(session& in, const spec& s, const std::string& label, int ranks) {
  series c{.label = label, .library = "heddle", .ranks = ranks, .threads = s.threads};
  if (s.what == kind::gups) {
    c.round = heddle_gups(in, s);
  } else {
    const auto pair = std::make_shared<heddle_pair>(in.at(), s);
    if (s.what == kind::overhead) {
      const bool over_shm = in.backend() == "shm";
      c.op = pair->mapped() ? "get-mapped" : over_shm ? "get-unmapped" : "get";
      c.label = pair->mapped() ? "mapped" : over_shm ? "unmapped" : "heddle";
    }
    const bool crowded = in.seats().crowded(ranks, s.threads);
    c.round = [&in, pair, ranks, own = make_measurement(*pair, s, in.at().self(), crowded)] {
      return round_of_pairs(in, own, ranks);
    };
  }
  c.round = [&in, own = c.round, threads = s.threads] {
    in.seats().take(threads);
    return own();
  };
  return c;
}

task task_for(const options& o, const spec& s, const std::string& backend) {
  return {.what = s, .backend = backend, .limit = std::chrono::seconds(o.rival_limit_s)};
}

/// Others are measured on rank 0 only, while the other ranks sleep.
series rival_contender(session& in, spec s, rival who) {
  if (who == rival::pair) return heddle_contender(in, s, "pair", 2);
  series c;
  if (is_in_this_job(who)) {  // Heddle with a lock around every call, or without messages beside
    s.lock_lanes = who == rival::lock;
    if (who == rival::unloaded) s.beside_bytes = 0;
    c = heddle_contender(in, s, name_of(who), in.what().ranks);
  } else {
    task t = task_for(in.what(), s, in.backend());
    t.cores = in.seats().pair(s.threads);
    check_rival(who, t);
    c = {.label = name_of(who), .library = {}, .threads = s.threads};
    if (s.what == kind::overhead) c.op = "get";
    c.round = [who, t, reports = in.reports()] {
      return reports ? rival_round(who, t) : round_result{};
    };
  }
  c.library = c.label;
  return c;
}

/// Of the cost of gets as many in flight as the field has, but no more than 64 MiB.
spec with_threads(spec s, int threads) {
  constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20, most = 256;
  s.threads = threads;
  const auto each = std::max<std::uint64_t>(s.bytes, 1) * static_cast<std::uint64_t>(threads);
  if (s.what == kind::overhead)
    s.window = static_cast<int>(std::clamp<std::uint64_t>(most_bytes / each, 1, most));
  return s;
}

/// Heddle with every thread count and, of the cost of gets over shm, with memory that is mapped and
/// memory that is not; and then every rival. Bare and pair know only the first of the counts.
std::vector<series> contenders_for(session& in, const spec& what) {
  const std::vector<int>& counts = in.what().thread_counts;
  std::vector<series> all;
  for (const int threads : counts) {
    spec s = with_threads(what, threads);
    if (s.what == kind::overhead) s.buffers = buffer_kind::exposed;
    all.push_back(heddle_contender(in, s, "heddle", in.what().ranks));
    if (s.what != kind::overhead || in.backend() != "shm") continue;
    s.buffers = buffer_kind::plain;
    all.push_back(heddle_contender(in, s, "heddle", in.what().ranks));
  }
  for (const rival who : in.what().rivals) {
    for (const int threads : counts) {
      if (is_library(who) || threads == counts.front())
        all.push_back(rival_contender(in, with_threads(what, threads), who));
    }
  }
  if (counts.size() == 1) return all;
  for (series& who : all) who.label += fmt::format(" T={}", who.threads);
  return all;
}

/// What is compared besides the first metric: the receiver's total, where both sides compute.
void compare_receivers(case_result& c) {
  for (std::size_t i = 1; i < c.metrics.size(); ++i) {
    if (c.metrics[i].name != c.metrics[0].name) continue;
    for (comparison between : usual_comparisons(c.contenders)) {
      between.measure = i;
      c.comparisons.push_back(between);
    }
  }
}

/// Whether gups has lost no more than may be lost; says so.
bool judge_updates(session& in, const case_result& c) {
  const double tolerated = tolerated_losses(c.what.atomic);
  bool good = true;
  for (const series& s : c.contenders) {
    if (s.parts.empty()) continue;
    const double lost = *std::max_element(s.parts[0].begin(), s.parts[0].end());
    good = good && lost <= tolerated;
    in.print(fmt::format("{:<13}lost updates, at most: {:.4f} %, tolerated {} %: {}", s.label,
                         lost * 100, tolerated * 100, lost <= tolerated ? "verified" : "FAILED"));
  }
  return good;
}

/// The exit status.
int measure_case(session& in, const spec& s) {
  const bool gups = s.what == kind::gups;
  case_result c{.what = s,
                .benchmark = in.what().benchmark,
                .op = !gups      ? name_of(s.op)
                      : s.atomic ? "atomic"
                                 : "get-put",
                .backend = in.backend(),
                .contenders = contenders_for(in, s)};
  compare_receivers(c);
  in.print(title(c));
  in.hold_rounds(c);
  in.conclude(c);
  if (in.what().aggregate_bandwidth) {
    in.print("aggregate bandwidth of a rank in GB/s");
    in.conclude(aggregate_bandwidth(c));
  }
  if (!gups) return tools::success;
  return agree(in, !in.reports() || judge_updates(in, c)) ? tools::success : tools::corrupted;
}

}  // namespace

void check_options(const options& o) {
  const auto refuse = [](const char* why) { throw tools::usage_error(why); };
  const auto has = [&o](rival r) {
    return std::find(o.rivals.begin(), o.rivals.end(), r) != o.rivals.end();
  };
  const bool gups = o.base.what == kind::gups;
  if (o.ranks % 2 != 0 && !gups) refuse("--ranks must be even: ranks work in pairs");
  if (has(rival::pair) && o.ranks == 2) refuse("--compare pair needs --ranks above 2");
  if (!gups && o.ranks != 2 && std::ranges::any_of(o.rivals, is_library))
    refuse("others are measured by two ranks: leave out --ranks, or --compare pair");
  const auto is_not_unloaded = [](rival r) { return r != rival::unloaded; };
  const bool beside = o.base.beside_bytes > 0;
  if (beside && o.base.op != operation::tag) refuse("--beside is for --op tag");
  if (beside && std::ranges::any_of(o.rivals, is_not_unloaded))
    refuse("--beside can only be compared with unloaded");
  if (!beside && has(rival::unloaded)) refuse("--compare unloaded is for --beside");
  if (gups && o.base.window != 1 && !o.base.atomic)
    refuse("--window is for --atomic: a get and its put cannot overlap others");
  if (gups && !o.rivals.empty() && (o.ranks != 2 || o.base.full))
    refuse("--compare needs --ranks 2, and no --full: that is how others run");
  if (o.base.what == kind::overlap && (has(rival::bare) || has(rival::pair)))
    refuse("--compare bare and pair: not possible here");
  if (has(rival::bare) && o.thread_counts.front() != 1)
    refuse("--compare bare is of one thread on each side: begin --threads with 1");
  for (const rival who : o.rivals)
    if (is_library(who))
      check_rival(who, task_for(o, with_threads(o.base, most_threads(o)), o.backend));
  if (o.base.target == target_mode::computing && !is_round_trip(o.base.op)) {
    refuse("--target computing is for --op get and fetch-add: the others need the target's help");
  }
  for (const std::uint64_t bytes : o.sizes) {
    if (o.base.op == operation::fetch_add && bytes != 8) refuse("fetch-add works on 8 bytes");
    if (bytes == 0 && o.base.op == operation::put) refuse("a put needs at least one byte");
    if (bytes == 0 && o.base.what == kind::bandwidth) refuse("no bandwidth without bytes");
    spec s = o.base;
    s.bytes = bytes;
    if (has(rival::bare)) check_rival(rival::bare, task_for(o, s, o.backend));
  }
}

int run_in_job(const options& o) {
  check_options(o);
  session in(o);
  int status = tools::success;
  for (const std::uint64_t bytes : o.sizes) {
    spec s = o.base;
    s.bytes = bytes;
    status = std::max(status, measure_case(in, s));
  }
  in.write();
  return status;
}

}  // namespace heddle::bench
