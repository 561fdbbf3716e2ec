// SPDX-License-Identifier: BSD-3-Clause
// introduction.h - what a rank tells of itself before anything is measured, and what is learned
// from it.
#pragma once
#include <string>
#include <vector>

#include "linktest/results/run_facts.h"

namespace heddle::linktest {

/// Where this process runs and, `with_machine`, what its host is: for learn() on another rank.
[[nodiscard]] std::string introduce(bool with_machine);

/// Puts what the ranks have told, by rank, into `facts`. An empty or strange text tells nothing.
void learn(run_facts& facts, const std::vector<std::string>& told);

}  // namespace heddle::linktest
