// run.cpp - alternating rounds of Heddle and what it is compared with, on all ranks of a job.
#include "bench/run.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <stdexcept>

#include "bench/bare_limit.h"
#include "bench/rival_runner.h"
#include "bench/round.h"
#include "bench/session.h"
#include "exit_status.h"

namespace heddle::bench {
namespace {

/// One round of the first `ranks` ranks: rank 0 learns the mean over the pairs, and its own stamps.
round_result heddle_round(station& at, rounds& own, int ranks) {
  if (at.self() >= ranks) return {};
  round_result mine = own.next();
  lane& l = at.first_lane();
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

contender heddle_contender(session& in, const spec& s, const std::string& label, int ranks) {
  auto own = std::make_shared<rounds>(in.at(), s, in.crowded(ranks, s.threads));
  return {{.label = label, .library = "heddle", .ranks = ranks, .threads = s.threads},
          [&in, own, s, ranks] {
            in.bind(s.threads);
            const round_result r = heddle_round(in.at(), *own, ranks);
            round_figure f{.figure = figure(s, r.seconds_per_op)};
            for (const double seconds : r.stamps) f.stamps.push_back(figure(s, seconds));
            return f;
          }};
}

/// `seconds` runs on rank 0 only, while the others sleep.
contender outside_contender(const session& in, const spec& s, const std::string& label,
                            std::function<double()> seconds) {
  return {{.label = label, .library = label, .threads = s.threads},
          [reports = in.reports(), s, seconds = std::move(seconds)]() -> round_figure {
            return reports ? round_figure{.figure = figure(s, seconds())} : round_figure{};
          }};
}

rival_task task_for(const options& o, const spec& s, const std::string& backend) {
  return {.what = s,
          .backend = backend,
          .scaling = o.thread_counts.size() > 1,
          .ucx_test = o.ucx_test,
          .limit = std::chrono::seconds(o.rival_limit_s)};
}

contender library_contender(const session& in, const spec& s, rival who) {
  rival_task t = task_for(in.what(), s, in.backend());
  t.cores = in.bound_cores(s.threads);
  const std::shared_ptr<rival_runner> runs = make_rival_runner(who, t);
  return outside_contender(in, s, name_of(who),
                           [runs] { return runs->next().seconds_per_op.value(); });
}

std::function<double()> require_limit(const spec& s, const std::string& backend,
                                      bare::core_pair cores) {
  auto limit = bare_limit(s, backend, cores);
  if (limit) return limit;
  throw tools::usage_error(
      fmt::format("there is no bare limit to compare {} {} of {} B over {} with", name_of(s.what),
                  name_of(s.op), s.bytes, backend));
}

contender bare_contender(const session& in, const spec& s) {
  return outside_contender(in, s, "bare", require_limit(s, in.backend(), in.pair()));
}

contender rival_contender(session& in, const spec& s, rival who) {
  if (is_started(who)) return library_contender(in, s, who);
  if (who == rival::bare) return bare_contender(in, s);
  return heddle_contender(in, s, "pair", 2);
}

/// Heddle with every thread count, and then every rival; bare and pair know only the first of them.
std::vector<contender> contenders_for(session& in, spec s) {
  const std::vector<int>& counts = in.what().thread_counts;
  std::vector<contender> all;
  for (const int threads : counts) {
    s.threads = threads;
    all.push_back(heddle_contender(in, s, "heddle", in.what().ranks));
  }
  for (const rival who : in.what().rivals) {
    for (const int threads : counts) {
      s.threads = threads;
      if (is_started(who) || threads == counts.front()) all.push_back(rival_contender(in, s, who));
    }
  }
  if (counts.size() == 1) return all;
  for (contender& who : all) who.results.label += fmt::format(" T={}", who.results.threads);
  return all;
}

void measure_case(session& in, const spec& s) {
  std::vector<contender> all = contenders_for(in, s);
  case_result c{.what = s,
                .benchmark = in.what().benchmark,
                .backend = in.backend(),
                .contenders = entrants(all)};
  in.print(title(c));
  in.hold_rounds(all, c);
  in.conclude(c);
  if (!in.what().aggregate_bandwidth) return;
  in.print("aggregate bandwidth of a rank in GB/s");
  in.conclude(aggregate_bandwidth(c));
}

void check_libraries(const options& o) {
  for (const rival who : o.rivals) {
    if (!is_started(who)) continue;
    rival_task t = task_for(o, o.base, o.backend);
    t.what.threads = most_threads(o);
    check_rival(who, t);
  }
}

}  // namespace

void check_options(const options& o) {
  const auto refuse = [](const char* why) { throw tools::usage_error(why); };
  const auto has = [&o](rival r) {
    return std::find(o.rivals.begin(), o.rivals.end(), r) != o.rivals.end();
  };
  if (o.ranks % 2 != 0) refuse("--ranks must be even: ranks work in pairs");
  if (has(rival::pair) && o.ranks == 2) refuse("--compare pair needs --ranks above 2");
  check_libraries(o);
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

void run_in_job(const options& o) {
  check_options(o);
  session in(o);
  for (const std::uint64_t bytes : o.sizes) {
    spec s = o.base;
    s.bytes = bytes;
    measure_case(in, s);
  }
  in.write();
}

}  // namespace heddle::bench
