// SPDX-License-Identifier: BSD-3-Clause
// job.h - runs a plan as a real job, a process per rank, and watches it.
#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "fuzz/plan.h"
#include "fuzz/verdict.h"

namespace heddle::fuzz {

/// Needs a process with one thread. The ranks are this program again, with the arguments
/// "rank PLAN BOARD". A job in which nothing ends for `patience` is ended and counts as silent;
/// time in which its ranks got no core does not count.
[[nodiscard]] std::vector<finding> run_job(const plan& p, std::chrono::seconds patience);

/// What a started rank does with its arguments: its exit status.
[[nodiscard]] int be_rank(const std::string& plan_file, const std::string& board_file);

}  // namespace heddle::fuzz
