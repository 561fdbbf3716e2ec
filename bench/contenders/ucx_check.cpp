// SPDX-License-Identifier: BSD-3-Clause
// ucx_check.cpp - rounds of heddle_peer_ucx and of ucx_perftest in turn.
#include "contenders/ucx_check.h"

#include <fmt/core.h>

#include "contenders/peer_command.h"
#include "contenders/ucx_runner.h"
#include "exit_status.h"
#include "harness/statistics.h"
#include "standard_output.h"

namespace heddle::bench {
namespace {

constexpr double wanted = 0.95;
constexpr auto layout = "{:<8}{:<11}{:<11}{:>12}{:>14} {:<5}{:>8}  {}\n";

rival_task task_for(const ucx_check& o, const std::string& backend, kind what, operation op) {
  rival_task t{.what = {.what = what, .op = op}, .backend = backend};
  t.what.time = std::chrono::milliseconds(o.time_ms);
  t.cores = cores_of_rank(bare::allowed_cores(), 0, 1, 2);
  return t;
}

ucx_rounds perftest_for(const rival_task& t) {
  const spec& s = t.what;
  return ucx_rounds({.test = ucx_test_for(s.what, s.op),
                     .backend = t.backend,
                     .bytes = s.bytes,
                     .outstanding = s.what == kind::latency ? 1 : s.window,
                     .cores = {t.cores.front(), t.cores[1 % t.cores.size()]}},
                    s.time, limit_of(t));
}

/// Figures of every round of both.
struct both_series {
  std::vector<double> ours, theirs;
};

both_series play(const ucx_check& o, const rival_task& t) {
  const auto ours = make_rival_runner(rival::ucx, t);
  ucx_rounds theirs = perftest_for(t);
  both_series s;
  for (int round = 0; round < o.rounds; ++round) {
    s.ours.push_back(ours->next().front());
    s.theirs.push_back(figure(t.what, theirs.next().seconds_per_op));
  }
  return s;
}

/// Whether it could be measured.
bool check(const ucx_check& o, const std::string& backend, kind what, operation op) {
  const rival_task t = task_for(o, backend, what, op);
  try {
    const both_series s = play(o, t);
    const double ours = median(s.ours), theirs = median(s.theirs);
    const double ratio = what == kind::latency ? theirs / ours : ours / theirs;
    tools::print(fmt::format(layout, backend, name_of(what), name_of(op),
                             fmt::format("{:.4g}", ours), fmt::format("{:.4g}", theirs),
                             metrics_of(t.what).front().unit, fmt::format("{:.3g}", ratio),
                             ratio >= wanted ? "pass" : "short"));
    return true;
  } catch (const std::runtime_error& why) {
    tools::print(fmt::format("{} {} {}: {}\n", backend, name_of(what), name_of(op), why.what()));
    return false;
  }
}

}  // namespace

int run_ucx_check(const ucx_check& o) {
  (void)find_ucx();
  tools::print(fmt::format(layout, "", "", "", "our loop", "ucx_perftest", "", "ratio", ""));
  bool complete = true;
  for (const std::string& backend : o.backends) {
    for (const kind what : {kind::latency, kind::rate}) {
      for (const auto& [name, op] : choices<operation>())
        complete = check(o, backend, what, op) && complete;
    }
  }
  return complete ? tools::success : tools::incomplete;
}

}  // namespace heddle::bench
