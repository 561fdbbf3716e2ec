// run_facts.h - what a report says about a run besides its numbers.
#pragma once
#include <string>
#include <vector>

#include "linktest/options.h"
#include "linktest/results.h"

namespace heddle::linktest {

struct run_facts {
  options chosen;
  std::vector<std::string> hosts;   ///< by rank, as tell_apart() makes them
  std::vector<std::string> routes;  ///< the backends in use, without repeats, sorted
  std::string version;              ///< of heddle
  std::string started, ended;       ///< UTC, "2025-01-31T23:59:59Z"
  double elapsed_s = 0;
};

/// What to call the host of each rank, from its name and its number in the job: the name, with the
/// number behind it ("node#1") where several hosts have that name. Equal only on one host.
[[nodiscard]] std::vector<std::string> tell_apart(const std::vector<std::string>& names,
                                                  const std::vector<int>& numbers);

/// "2025-01-31T23:59:59Z" for now.
[[nodiscard]] std::string utc_now();

/// How the run went, from its matrix: success (all measured), corrupted or incomplete.
[[nodiscard]] exit_status verdict_of(const results& all);

}  // namespace heddle::linktest
