// SPDX-License-Identifier: BSD-3-Clause
// search_options.h - the options that say which pairs are measured, what counts as slow, and what
// is planned or simulated instead of measured.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "linktest/groups.h"

namespace CLI {  // NOLINT: not our name
class App;
}

namespace heddle::linktest {

/// Whether to look for what is slow.
enum class diagnosis_choice : std::uint8_t {
  automatic,  ///< unless ranks share cores: then the figures are the scheduler's
  always,
  never,
};

struct search_options {
  std::uint64_t pairs = 0;  ///< matchings to sample; 0: all pairs
  double time_s = 0;        ///< budget; 0: none
  double slow = 1.5;        ///< times as long as usual that count as slow
  diagnosis_choice diagnose = diagnosis_choice::automatic;
  std::string baseline;             ///< a linktest.json of an earlier run; empty: none
  std::vector<std::string> expect;  ///< rules, as rules/rule.h reads them
  std::vector<host_group> groups;   ///< of hosts; none: not told
  bool dry_run = false;
  int ranks_per_host = 1;  ///< of --dry-run and --simulate
  std::string simulate;    ///< fabric::parse(); empty: measure
  std::string faults;      ///< of the simulated network
  int rails = 1;           ///< of the simulated network
};

/// Seconds from "90", "90s", "5m" or "1h". Throws error with what is accepted.
[[nodiscard]] double parse_duration(const std::string& text);

/// Declares one whose value is a number between `least` and `most`, both included.
void add_real(CLI::App& command, const std::string& name, double& into, double least, double most,
              const std::string& unit, const std::string& help);
/// Declares the options; parsing fills `into`, which must outlive it.
void declare_search_options(CLI::App& command, search_options& into);
/// Adds what ranks of a job need of them.
void add_arguments(const search_options& chosen, std::vector<std::string>& out);

}  // namespace heddle::linktest
