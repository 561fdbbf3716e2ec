// SPDX-License-Identifier: BSD-3-Clause
// ucx_runner.h - runs Debian's ucx_perftest as the other side of a comparison.
#pragma once
#include <chrono>
#include <cstdint>
#include <string>

#include "contenders/ucx_output.h"
#include "harness/spec.h"

namespace heddle::bench {

/// The arguments of one run.
struct ucx_run {
  std::string test;     ///< as after ucx_perftest -t
  std::string backend;  ///< shm, tcp or verbs
  std::uint64_t bytes = 8;
  int outstanding = 1;
  std::uint64_t iterations = 1000;
  bare::core_pair cores = {};
};

/// UCX's setting for a backend of Heddle's: its transports over the same wire, and to oneself.
[[nodiscard]] std::string ucx_transports(const std::string& backend);

/// ucx_perftest's test for the same thing.
[[nodiscard]] std::string ucx_test_for(kind what, operation op);

/// Iterations for a first run: enough for its clock, few enough for the slowest operations.
[[nodiscard]] std::uint64_t first_iterations(const std::string& backend, std::uint64_t bytes);

/// Path of ucx_perftest. Throws std::runtime_error naming the package when it is missing.
[[nodiscard]] std::string find_ucx();

/// Runs server and client to the end, both killed after `limit`. No process is left behind, not
/// even when this process is killed. Throws std::runtime_error with what they printed.
[[nodiscard]] ucx_result run_ucx(const ucx_run& run, std::chrono::seconds limit);

/// Rounds of one test, each about as long as asked: the number of iterations follows the rate, and
/// that of `first` does not matter.
class ucx_rounds {
 public:
  /// Throws as run_ucx() does, with this limit.
  ucx_rounds(ucx_run first, std::chrono::milliseconds time, std::chrono::seconds limit);
  [[nodiscard]] ucx_result next();

 private:
  ucx_result run_and_adapt();
  ucx_run run_;
  std::chrono::duration<double> time_;
  std::chrono::seconds limit_;
  bool calibrated_ = false;
};

}  // namespace heddle::bench
