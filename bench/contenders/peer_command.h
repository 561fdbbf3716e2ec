// SPDX-License-Identifier: BSD-3-Clause
// peer_command.h - how a program of bench/libraries is started, so that it uses one wire and no
// other.
#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "contenders/rival_runner.h"
#include "harness/child.h"

namespace heddle::bench {

/// How long one round may take in all.
[[nodiscard]] std::chrono::seconds limit_of(const rival_task& t);

struct peer_programs {
  std::string peer;      ///< of bench/libraries
  std::string launcher;  ///< that starts it on two ranks; empty: it does so itself
};

/// Where they are. Throws std::runtime_error naming the Debian packages when one is missing.
[[nodiscard]] peer_programs find_peer(rival who);

/// The whole command. `scratch` is a folder for the launcher's files. docs/performance.md says what
/// each setting is for.
[[nodiscard]] command peer_command(rival who, const peer_programs& programs, const rival_task& t,
                                   const std::string& scratch);

}  // namespace heddle::bench
