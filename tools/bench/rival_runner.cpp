// rival_runner.cpp - a rival's program for a round, and its end whatever happens.
#include "bench/rival_runner.h"

#include <fmt/core.h>

#include "bench/child.h"
#include "bench/peer_command.h"
#include "bench/scratch_folder.h"
#include "bench/ucx_runner.h"
#include "bench/variant_runner.h"
#include "exit_status.h"

namespace heddle::bench {
namespace {

using clock = std::chrono::steady_clock;

class peer_runner final : public rival_runner {
 public:
  peer_runner(rival who, rival_task t)
      : who_(who), task_(std::move(t)), programs_(find_peer(who)) {}

  peer_line next() override {
    const scratch_folder scratch;
    child program(peer_command(who_, programs_, task_, scratch.path()));
    const bool ended = program.wait_until(clock::now() + limit_of(task_));
    // A round that was printed counts, whatever became of the program afterwards.
    const std::vector<peer_line> rounds = parse_peer_lines(program.output());
    if (!rounds.empty()) return rounds.back();
    throw rival_failure(how_it_failed(who_, task_, program, ended));
  }

 private:
  rival who_;
  rival_task task_;
  peer_programs programs_;
};

class perftest_runner final : public rival_runner {
 public:
  explicit perftest_runner(const rival_task& t) : rounds_(first_run(t), t.what.time, limit_of(t)) {}
  peer_line next() override try {
    return {.seconds_per_op = rounds_.next().seconds_per_op, .sides = {}};
  } catch (const std::runtime_error& why) {
    throw rival_failure(why.what());
  }

 private:
  static ucx_run first_run(const rival_task& t) {
    const std::size_t cores = t.cores.size();
    const spec& s = t.what;
    return {.test = t.ucx_test.empty() ? ucx_test_for(s.what, s.op) : t.ucx_test,
            .backend = t.backend,
            .bytes = s.bytes,
            .outstanding = s.what == kind::latency ? 1 : s.window,
            .cores = cores == 0 ? bare::core_pair{}
                                : bare::core_pair{t.cores.front(), t.cores[1 % cores]}};
  }
  ucx_rounds rounds_;
};

bool is_perftest(rival who, const rival_task& t) {
  return who == rival::ucx && t.what.threads == 1 && !t.scaling && !t.overlap && !t.gups;
}

bool is_mpi(rival who) {
  return who == rival::openmpi || who == rival::mpich;
}

/// Why `who` cannot do this; null: it can.
const char* why_not(rival who, const rival_task& t) {
  const bool tagged = t.overlap || (t.what.op == operation::tag && !t.gups);
  if (!is_started(who) || (t.overlap && is_variant(who))) return "not possible here";
  if (is_variant(who)) return nullptr;
  if (who == rival::utofu) {
    if (tagged) return "uTofu has no tagged messages; compare --op am";
    return t.backend == "utofu" || t.backend == "auto" ? nullptr : "that is for --backend utofu";
  }
  if (t.backend == "utofu") return "it does not use uTofu";
  if (t.gups) return "it is not possible with gups";
  const bool calls = !t.overlap && t.what.op == operation::am;
  return is_mpi(who) && calls ? "MPI has no active messages; compare --op tag" : nullptr;
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
  if (!t.ucx_test.empty() && !is_perftest(rival::ucx, t)) {
    throw tools::usage_error("--ucx-test is for one thread: with more, ucx_perftest is not used");
  }
  if (is_perftest(who, t)) {
    (void)find_ucx();
  } else if (!is_variant(who)) {
    (void)find_peer(who);
  }
}

std::unique_ptr<rival_runner> make_rival_runner(rival who, const rival_task& t) {
  check_rival(who, t);
  if (is_perftest(who, t)) return std::make_unique<perftest_runner>(t);
  if (is_variant(who)) return make_variant_runner(who, t);
  return std::make_unique<peer_runner>(who, t);
}

}  // namespace heddle::bench
