// SPDX-License-Identifier: BSD-3-Clause
// rivals.h - a round of somebody else's library, for any benchmark of ours; and how its program is
// started, so that it uses one wire and no other.
#pragma once
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/programs.h"
#include "harness/rounds.h"
#include "harness/spec.h"
#include "libraries/task.h"
#include "report/record.h"

namespace heddle::bench {

/// A rival that ended without a figure, or did not end and was killed. It may do better next time.
struct rival_failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Whether it is a library, or Heddle in another way: measured by two ranks, with any number of
/// threads.
[[nodiscard]] bool is_library(rival who) noexcept;
/// Whether it is Heddle used in another way, which this job's ranks measure themselves.
[[nodiscard]] bool is_in_this_job(rival who) noexcept;

struct peer_programs {
  std::string peer;      ///< of bench/libraries, or this program
  std::string launcher;  ///< that starts it on two ranks; empty: it does so itself
};

/// Where they are; of Heddle itself this program. Throws std::runtime_error naming the Debian
/// packages when one is missing.
[[nodiscard]] peer_programs find_peer(rival who);

/// Settings of UCX itself, and of UCX below an MPI, for a backend of Heddle's: the same wire, and
/// to oneself.
[[nodiscard]] std::vector<std::string> ucx_settings(const std::string& backend);

/// Where Heddle, as a rival of its own, writes its records.
[[nodiscard]] std::filesystem::path records_in(const std::string& scratch);

/// The whole command. `scratch` is a folder for the launcher's files. docs/performance.md says what
/// each setting is for.
[[nodiscard]] command peer_command(rival who, const peer_programs& programs, const task& t,
                                   const std::string& scratch);

/// Throws tools::usage_error when this rival has no such thing to measure, and std::runtime_error
/// naming the Debian package when a program is missing. Starts nothing.
void check_rival(rival who, const task& t);

/// Starts the rival, lets it measure one round, and sees it end: no process is left behind, not
/// even when this process is killed. The figures are those of metrics_of(). Throws rival_failure
/// with what it printed.
[[nodiscard]] round_result rival_round(rival who, const task& t);

/// The figures of metrics_of() that records of Heddle's hold. Throws rival_failure when they do
/// not.
[[nodiscard]] round_result figures_in(const std::vector<record>& records, const spec& s);

}  // namespace heddle::bench
