// SPDX-License-Identifier: BSD-3-Clause
// rival_runner.cpp - a rival's program for a round, and its end whatever happens.
#include "contenders/rival_runner.h"

#include <fmt/core.h>

#include "contenders/peer_command.h"
#include "contenders/variant_runner.h"
#include "exit_status.h"
#include "harness/child.h"
#include "harness/scratch_folder.h"
#include "libraries/task.h"

namespace heddle::bench {
namespace {

using clock = std::chrono::steady_clock;

class peer_runner final : public rival_runner {
 public:
  peer_runner(rival who, rival_task t)
      : who_(who), task_(std::move(t)), programs_(find_peer(who)) {}

  std::vector<double> next() override {
    const scratch_folder scratch;
    child program(peer_command(who_, programs_, task_, scratch.path()));
    const bool ended = program.wait_until(clock::now() + limit_of(task_));
    // A round that was printed counts, whatever became of the program afterwards.
    const std::vector<std::vector<double>> rounds = parse_lines(program.output());
    if (!rounds.empty()) return rounds.back();
    throw rival_failure(how_it_failed(who_, task_, program, ended));
  }

 private:
  rival who_;
  rival_task task_;
  peer_programs programs_;
};

bool is_mpi(rival who) {
  return who == rival::openmpi || who == rival::mpich;
}

/// Why `who` cannot do this; null: it can.
const char* why_not(rival who, const rival_task& t) {
  const spec& s = t.what;
  const bool common = s.what != kind::overlap && s.what != kind::gups && s.what != kind::overhead;
  const bool of_one_way = s.what == kind::overlap || s.what == kind::overhead || s.background;
  if (!is_started(who) || (is_variant(who) && of_one_way)) return "not possible here";
  if (is_variant(who)) return nullptr;
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
  const bool calls = common && s.op == operation::am;
  if (is_mpi(who) && calls) return "MPI has no active messages; compare --op tag";
  return who == rival::ofi && calls ? "libfabric has no active messages; compare --op tag"
                                    : nullptr;
}

}  // namespace

bool is_started(rival who) noexcept {
  return who != rival::bare && who != rival::pair;
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

void check_rival(rival who, const rival_task& t) {
  if (const char* const why = why_not(who, t)) {
    throw tools::usage_error(fmt::format("--compare {}: {}", name_of(who), why));
  }
  if (!is_variant(who)) (void)find_peer(who);
}

std::unique_ptr<rival_runner> make_rival_runner(rival who, const rival_task& t) {
  check_rival(who, t);
  if (is_variant(who)) return make_variant_runner(who, t);
  return std::make_unique<peer_runner>(who, t);
}

}  // namespace heddle::bench
