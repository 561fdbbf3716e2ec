// SPDX-License-Identifier: BSD-3-Clause
// check_ucx.cpp - `heddle bench check-ucx`: whether our loops over UCX are as quick as UCX's own,
// by rounds of heddle_peer_ucx and of ucx_perftest in turn.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/commands.h"
#include "contenders/command.h"
#include "contenders/rivals.h"
#include "contenders/ucx_perftest.h"
#include "exit_status.h"
#include "harness/statistics.h"
#include "standard_output.h"

namespace heddle::bench {
namespace {

struct ucx_check {
  std::vector<std::string> backends{"shm", "tcp"};
  int rounds = 5;
  std::chrono::milliseconds time{200};  ///< of one round
};

constexpr double wanted = 0.95;
constexpr auto layout = "{:<8}{:<11}{:<11}{:>12}{:>14} {:<5}{:>8}  {}\n";

/// Whether it could be measured.
bool check(const ucx_check& o, const std::string& backend, kind what, operation op) {
  // ucx_perftest measures memory that UCX has allocated.
  const spec s{.what = what, .op = op, .buffers = buffer_kind::exposed, .time = o.time};
  rival_task t{.what = s, .backend = backend};
  t.cores = cores_of_rank(bare::allowed_cores(), 0, 1, 2);
  ucx_run run{.test = ucx_test_for(what, op),
              .backend = backend,
              .bytes = t.what.bytes,
              .outstanding = what == kind::latency ? 1 : t.what.window,
              .cores = {t.cores.front(), t.cores.back()}};
  std::vector<double> ours, theirs;
  try {
    for (int round = 0; round < o.rounds; ++round) {
      ours.push_back(rival_round(rival::ucx, t).figures.front());
      theirs.push_back(figure(t.what, run_ucx_for(run, t.what.time, limit_of(t))));
    }
  } catch (const std::runtime_error& why) {
    tools::print(fmt::format("{} {} {}: {}\n", backend, name_of(what), name_of(op), why.what()));
    return false;
  }
  const double times = median(ours) / median(theirs);
  const double ratio = what == kind::latency ? 1 / times : times;
  tools::print(fmt::format(layout, backend, name_of(what), name_of(op),
                           fmt::format("{:.4g}", median(ours)),
                           fmt::format("{:.4g}", median(theirs)), metrics_of(t.what).front().unit,
                           fmt::format("{:.3g}", ratio), ratio >= wanted ? "pass" : "short"));
  return true;
}

/// Prints a line for each backend, kind and operation. Returns success, or incomplete when one of
/// both failed. Throws std::runtime_error naming the package when one is missing.
int run_ucx_check(const ucx_check& o) {
  (void)find_ucx();
  (void)find_peer(rival::ucx);
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

}  // namespace

void add_check_ucx(CLI::App& bench, int& code) {
  auto o = std::make_shared<ucx_check>();
  CLI::App& app = *bench.add_subcommand(
      "check-ucx", "Our loops over UCX beside ucx_perftest: are the rival's figures fair?");
  app.add_option("--backend", o->backends, "shm, tcp, or both with a comma")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"shm", "tcp"}))
      ->capture_default_str();
  add_rounds(app, o->rounds, o->time);
  app.footer(
      "Each operation of 8 bytes by both in turn, on the same cores; the ratio is that of the "
      "medians, and 1 or more where our loop is as quick. At least 0.95 is wanted. ucx_perftest "
      "counts on a different kind of run, so a ratio above 1 is no merit.");
  app.callback([o, &code] { code = run_ucx_check(*o); });
}

}  // namespace heddle::bench
