// SPDX-License-Identifier: BSD-3-Clause
// ucx_perftest.h - UCX's own measuring program, which our loops over UCX are held against.
#pragma once
#include <chrono>
#include <cstdint>
#include <string>

#include "harness/spec.h"

namespace heddle::bench {

/// Seconds per operation, of ping-pong tests half a round trip, that the output of `ucx_perftest -f
/// -v` tells: a line of column names, a line of numbers; other lines (warnings) may stand anywhere.
/// Columns are found by name, so that a release may add some. Throws std::runtime_error quoting the
/// output when there is no such line, or a number is not positive.
[[nodiscard]] double parse_ucx_output(const std::string& output);

/// The arguments of one run.
struct ucx_run {
  std::string test;     ///< as after ucx_perftest -t
  std::string backend;  ///< shm, tcp or verbs
  std::uint64_t bytes = 8;
  int outstanding = 1;
  std::uint64_t iterations = 200;
  bare::core_pair cores = {};
};

/// ucx_perftest's test for the same thing.
[[nodiscard]] std::string ucx_test_for(kind what, operation op);

/// Path of ucx_perftest. Throws std::runtime_error naming the package when it is missing.
[[nodiscard]] std::string find_ucx();

/// Runs server and client to the end, both killed after `limit`: seconds per operation. No process
/// is left behind, not even when this process is killed. Throws std::runtime_error with what they
/// printed.
[[nodiscard]] double run_ucx(const ucx_run& run, std::chrono::seconds limit);

/// A run that lasts about as long as asked: the iterations of `run` follow the rate, for this run
/// and the next. Throws as run_ucx() does.
[[nodiscard]] double run_ucx_for(ucx_run& run, std::chrono::milliseconds time,
                                 std::chrono::seconds limit);

}  // namespace heddle::bench
