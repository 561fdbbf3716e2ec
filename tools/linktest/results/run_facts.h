// SPDX-License-Identifier: BSD-3-Clause
// run_facts.h - what a report says about a run besides its numbers.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "linktest/diagnose/verdict.h"
#include "linktest/measure/bare.h"
#include "linktest/measure/clock_cost.h"
#include "linktest/options.h"
#include "linktest/results/results.h"
#include "linktest/rules/rule.h"

namespace heddle::linktest {

/// Something about a machine or a run, in words for people: "kernel" is "6.1.0-18-amd64".
struct named_text {
  std::string name, value;
  friend bool operator==(const named_text&, const named_text&) = default;
};

struct host_facts {
  std::string host;  ///< as tell_apart() makes it
  std::vector<named_text> facts;
};

/// Where a rank runs. What is not known is empty, or -1.
struct rank_place {
  std::string cpus;        ///< it may use: "0-3,8"
  std::vector<int> cores;  ///< of its host, to which these belong
  int complex = -1;        ///< the cores that share their last cache with all of those
  int socket = -1;         ///< the processor that all of those are in
};

struct run_facts {
  options chosen;
  std::vector<std::string> hosts;   ///< by rank, as tell_apart() makes them
  std::vector<std::string> groups;  ///< by rank, of its host; empty: not told
  std::vector<std::string> routes;  ///< the backends in use, without repeats, sorted
  std::string version;              ///< of heddle, or of the program that wrote the file
  std::string command;              ///< what was typed, as far as known
  std::string started, ended;       ///< UTC, "2025-01-31T23:59:59Z"
  double elapsed_s = 0;
  bool interrupted = false;             ///< ended by the user before all was measured
  std::vector<named_text> environment;  ///< settings of Heddle that were made
  std::vector<host_facts> machines;     ///< in the order of the hosts' first ranks
  std::vector<rank_place> places;       ///< by rank; empty: not known
  std::optional<diagnosis> slow;        ///< what is slow; none: not looked for
  std::string not_diagnosed;  ///< why it was not looked for; empty: it was, or nobody wanted it
  std::string disturbed;      ///< ranks that are not judged for want of a core; empty: none
  std::vector<broken_rule> missed;  ///< of --expect and --baseline
  std::string layers;  ///< how all layers of the run compare, in words, of the last one; else empty
  clock_facts clock;
  bare_times bare;                      ///< by size; none where nobody measured them
  std::vector<spread> step_bandwidths;  ///< by size: over the steps, of step_bandwidths(); or none
  std::optional<sketch> all_to_all;     ///< between steps, as the reporting rank saw them
};

/// A run as its files tell it.
struct run_record {
  run_facts facts;
  results all;
};

/// What to call the host of each rank, from its name and its number in the job: the name, with the
/// number behind it ("node#1") where several hosts have that name. Equal only on one host.
[[nodiscard]] std::vector<std::string> tell_apart(const std::vector<std::string>& names,
                                                  const std::vector<int>& numbers);
/// Each host once, in the order of their first ranks.
[[nodiscard]] std::vector<std::string> each_host(const std::vector<std::string>& hosts);

/// "2025-01-31T23:59:59Z" for now.
[[nodiscard]] std::string utc_now();

/// How the run went, from its matrix: success (all measured), corrupted or incomplete.
[[nodiscard]] exit_status verdict_of(const results& all);

}  // namespace heddle::linktest
