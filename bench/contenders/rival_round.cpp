// SPDX-License-Identifier: BSD-3-Clause
// rival_round.cpp - a rival's program for a round, and its end whatever happens.
#include "contenders/rival_round.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "contenders/peer_command.h"
#include "exit_status.h"
#include "harness/files.h"
#include "libraries/task.h"

namespace heddle::bench {
namespace {

/// With the cores of the whole job, not only those of the thread that starts it.
std::unique_ptr<child> start(const command& c, const std::vector<int>& cores) {
  const std::vector<int> mine = bare::allowed_cores();
  bare::pin_this_thread(cores);
  auto started = std::make_unique<child>(c);
  bare::pin_this_thread(mine);
  return started;
}

std::string how_it_failed(rival who, const rival_task& t, const child& program, bool ended) {
  constexpr std::size_t most = 2000;  // launchers explain themselves at length
  const std::string output = program.output();
  const std::string end =
      ended ? fmt::format("failed with status {}", program.exit_status())
            : fmt::format("took longer than {} s and was killed", limit_of(t).count());
  return fmt::format("{} {}\n{}", name_of(who), end,
                     output.size() <= most ? output : "... " + output.substr(output.size() - most));
}

/// Why `who` cannot do this; null: it can.
const char* why_not(rival who, const rival_task& t) {
  const spec& s = t.what;
  const bool common = s.what != kind::overlap && s.what != kind::gups && s.what != kind::overhead;
  const bool of_one_way = s.what == kind::overlap || s.what == kind::overhead || s.background;
  const bool heddle = who == rival::uncached || is_in_this_job(who);
  if (!is_library(who) || (heddle && of_one_way)) return "not possible here";
  if (heddle) return nullptr;
  if (s.background) return "nobody but Heddle moves messages while nobody calls it";
  if (who == rival::utofu) {
    if (s.what == kind::overlap || (common && s.op == operation::tag))
      return "uTofu has no tagged messages; compare --op am";
    return t.backend == "utofu" || t.backend == "auto" ? nullptr : "that is for --backend utofu";
  }
  if (t.backend == "utofu") return "it does not use uTofu";
  if (who == rival::verbs) {
    if (!common || s.op == operation::tag) return "verbs have no tagged messages and no xor";
    return t.backend == "verbs" || t.backend == "auto" ? nullptr : "that is for --backend verbs";
  }
  if (t.backend == "verbs" && who != rival::ucx) return "it is not set to use verbs";
  if (s.what == kind::gups && who == rival::ofi)
    return "its puts do not tell when they have arrived";
  if (who == rival::ucx || !common || s.op != operation::am) return nullptr;
  return who == rival::ofi ? "libfabric has no active messages; compare --op tag"
                           : "MPI has no active messages; compare --op tag";
}

}  // namespace

bool is_library(rival who) noexcept {
  return who != rival::bare && who != rival::pair;
}

bool is_in_this_job(rival who) noexcept {
  return who == rival::lock || who == rival::unloaded;
}

void check_rival(rival who, const rival_task& t) {
  if (const char* const why = why_not(who, t)) {
    throw tools::usage_error(fmt::format("--compare {}: {}", name_of(who), why));
  }
  if (!is_in_this_job(who)) (void)find_peer(who);
}

round_result rival_round(rival who, const rival_task& t) {
  const scratch_folder scratch;
  const auto program = start(peer_command(who, find_peer(who), t, scratch.path()), t.cores);
  const bool ended = program->wait_until(std::chrono::steady_clock::now() + limit_of(t));
  if (who == rival::uncached) {
    if (ended && program->exit_status() == 0)
      return figures_in(read_records(records_in(scratch.path())), t.what);
  } else if (const auto rounds = parse_lines(program->output()); !rounds.empty()) {
    return rounds.back();  // whatever became of the program afterwards
  }
  throw rival_failure(how_it_failed(who, t, *program, ended));
}

round_result figures_in(const std::vector<record>& records, const spec& s) {
  round_result round;
  for (const metric& m : metrics_of(s)) {
    const auto found = std::find_if(records.begin(), records.end(), [&m](const record& r) {
      return r.library == "heddle" && r.metric == m.name;
    });
    if (found == records.end()) throw rival_failure(fmt::format("its records have no {}", m.name));
    round.figures.push_back(found->median);
    if (s.what == kind::latency) round.p99 = found->p99;
  }
  return round;
}

}  // namespace heddle::bench
