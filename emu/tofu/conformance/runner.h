// SPDX-License-Identifier: BSD-3-Clause
// runner.h - runs tests: each in a process of its own, or all in this one among the ranks of a job.
#pragma once
#include <string>
#include <vector>

#include "report.h"

namespace conformance {

/// All tests, by number.
const std::vector<test_case>& all_tests();

/// Runs the test in this process.
outcome run_here(const test_case& one, const settings& how, const far_ranks& ranks);

/// Runs each test in a process of its own with its own time limit: one that crashes or hangs takes
/// nothing with it. `options` are handed on.
std::vector<outcome> run_apart(const std::vector<const test_case*>& chosen, const settings& how,
                               const std::vector<std::string>& options);

/// What such a process does: runs the test and hands the outcome to the one that started it.
int run_for_parent(const test_case& one, const settings& how);

/// As rank 0 of a job. A test that hangs ends the run, with what is known so far.
std::vector<outcome> run_among_ranks(const std::vector<const test_case*>& chosen,
                                     const settings& how);

/// As any other rank.
int serve_rank_0(const settings& how);

}  // namespace conformance
