// rival_runner.cpp - a rival's program for a round, and its end whatever happens.
#include "bench/rival_runner.h"

#include <fmt/core.h>

#include "bench/child.h"
#include "bench/peer_command.h"
#include "bench/scratch_folder.h"
#include "bench/ucx_runner.h"
#include "exit_status.h"

namespace heddle::bench {
namespace {

using clock = std::chrono::steady_clock;

/// The end of what it printed: launchers explain themselves at length.
std::string last_words(const std::string& output) {
  constexpr std::size_t most = 2000;
  return output.size() <= most ? output : "... " + output.substr(output.size() - most);
}

class peer_runner final : public rival_runner {
 public:
  peer_runner(rival who, rival_task t)
      : who_(who), task_(std::move(t)), programs_(find_peer(who)) {}

  peer_line next() override {
    const scratch_folder scratch;
    child program(peer_command(who_, programs_, task_, scratch.path()));
    const std::chrono::seconds limit = limit_of(task_);
    const bool ended = program.wait_until(clock::now() + limit);
    // A round that was printed counts, whatever became of the program afterwards.
    const std::vector<peer_line> rounds = parse_peer_lines(program.output());
    if (!rounds.empty()) return rounds.back();
    const std::string end =
        ended ? fmt::format("failed with status {}", program.exit_status())
              : fmt::format("took longer than {} s and was killed", limit.count());
    throw rival_failure(fmt::format("{} {}\n{}", name_of(who_), end, last_words(program.output())));
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
  return who == rival::ucx && t.what.threads == 1 && !t.scaling && !t.overlap;
}

}  // namespace

bool is_library(rival who) noexcept {
  return who == rival::ucx || who == rival::openmpi || who == rival::mpich;
}

void check_rival(rival who, const rival_task& t) {
  const std::string name = name_of(who);
  if (!is_library(who)) throw tools::usage_error("--compare " + name + " is not possible here");
  if (who != rival::ucx && !t.overlap && t.what.op == operation::am) {
    throw tools::usage_error(
        fmt::format("--compare {}: MPI has no active messages; compare --op tag", name));
  }
  if (!t.ucx_test.empty() && !is_perftest(rival::ucx, t)) {
    throw tools::usage_error("--ucx-test is for one thread: with more, ucx_perftest is not used");
  }
  if (is_perftest(who, t)) {
    (void)find_ucx();
  } else {
    (void)find_peer(who);
  }
}

std::unique_ptr<rival_runner> make_rival_runner(rival who, const rival_task& t) {
  check_rival(who, t);
  if (is_perftest(who, t)) return std::make_unique<perftest_runner>(t);
  return std::make_unique<peer_runner>(who, t);
}

}  // namespace heddle::bench
