// SPDX-License-Identifier: BSD-3-Clause
// machine_facts.h - what a report says about the machine that was measured.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "linktest/results/run_facts.h"

namespace heddle::linktest {

/// Of this host: processor, cores, NUMA nodes, memory, kernel, and each network interface with its
/// speed and the NUMA node it is at. What cannot be found out is left out.
[[nodiscard]] std::vector<named_text> facts_of_machine();

/// Where this process may run, as the system has bound it.
[[nodiscard]] rank_place place_of_process();

/// Environment variables that begin with HEDDLE_ and are a user's choice, by name; what a launcher
/// tells its ranks, and secrets, are not among them.
[[nodiscard]] std::vector<named_text> settings_made();

/// The command line of this process, with quotes where a shell needs them.
[[nodiscard]] std::string command_of_process();

/// "0-3,8" for {0, 1, 2, 3, 8}.
[[nodiscard]] std::string ranges_of(const std::vector<int>& ascending);

/// How many ranks share each core, on the host where this is worst; 1 when no core is shared or
/// places are not known.
struct crowding {
  std::string host;
  std::size_t ranks = 0, cores = 0;
  [[nodiscard]] bool crowded() const noexcept { return ranks > cores; }
};
[[nodiscard]] crowding worst_crowding(const run_facts& facts);

}  // namespace heddle::linktest
