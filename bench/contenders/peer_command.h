// SPDX-License-Identifier: BSD-3-Clause
// peer_command.h - how a rival's program is started, so that it uses one wire and no other.
#pragma once
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "contenders/rival_round.h"
#include "harness/programs.h"

namespace heddle::bench {

/// How long one round may take in all.
[[nodiscard]] std::chrono::seconds limit_of(const rival_task& t);

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
[[nodiscard]] command peer_command(rival who, const peer_programs& programs, const rival_task& t,
                                   const std::string& scratch);

}  // namespace heddle::bench
