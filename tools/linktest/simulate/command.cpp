// SPDX-License-Identifier: BSD-3-Clause
// command.cpp - options to a simulated run, and its findings to the screen.
#include "linktest/simulate/command.h"

#include <fmt/format.h>

#include "exit_status.h"
#include "linktest/simulate/simulated_run.h"
#include "standard_output.h"

namespace heddle::linktest {
namespace {

constexpr std::uint64_t most_observations = 20'000'000;  // 24 bytes each, and 30 for the fit

simulated_network::how settings_of(const options& chosen) {
  simulated_network::how out;
  out.seed = chosen.seed;
  out.one_way = chosen.kernel == kernel::uni;
  out.rails = chosen.search.rails;
  out.bytes = chosen.sizes.back();
  out.repetitions = static_cast<int>(std::min<std::uint64_t>(chosen.repetitions, 1000));
  return out;
}

}  // namespace

int simulate(const options& chosen) {
  const int per_host = chosen.search.ranks_per_host;
  const int hosts = (chosen.ranks + per_host - 1) / per_host;
  if (hosts < 2) throw tools::usage_error("--simulate: give more than one host");
  if (hosts > 10'000'000) throw tools::usage_error("--simulate: at most 10 million hosts");
  const fabric where = fabric::parse(chosen.search.simulate, hosts);
  simulated_run job(where, settings_of(chosen), parse_simulated_faults(chosen.search.faults),
                    chosen.search.pairs);
  job.judge_by(chosen.search.slow);
  const std::uint64_t count =
      job.steps().ordered_pairs() * static_cast<std::uint64_t>(chosen.search.rails);
  if (count > most_observations)
    throw tools::usage_error(
        fmt::format("--simulate: {} measurements are too many; sample some partners of each host "
                    "with --pairs, as --pairs 16",
                    count));
  if (!chosen.quiet)
    tools::print(fmt::format("Simulated {}: {} matchings, {} measurements, {} bytes for the plan\n",
                             where.describe(), job.steps().steps(), count, sizeof(plan)));
  const diagnosis found = job.run();
  tools::print(in_words(found, {}));
  return found_slow_part(found) ? tools::slow_part : tools::success;
}

}  // namespace heddle::linktest
