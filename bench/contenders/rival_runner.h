// SPDX-License-Identifier: BSD-3-Clause
// rival_runner.h - rounds of somebody else's library, one at a time, for any benchmark of ours.
#pragma once
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/child.h"
#include "harness/spec.h"

namespace heddle::bench {

/// What a rival measures, between two processes of its own on this machine.
struct rival_task {
  /// Its target does not matter to libraries, its buffers to UCX alone; its lanes are their
  /// workers, communicators or VCQs.
  spec what;
  std::string backend;          ///< shm, tcp or utofu: it gets nothing else
  std::vector<int> cores = {};  ///< for both ranks, as cores_of_rank() deals them; empty: not bound
  std::chrono::seconds limit{30};  ///< what a round may take beyond its own time
};

/// A rival that ended without a figure, or did not end and was killed. It may do better next time.
struct rival_failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What a program that ended without a figure, or did not end, said.
[[nodiscard]] std::string how_it_failed(rival who, const rival_task& t, const child& program,
                                        bool ended);

class rival_runner {
 public:
  virtual ~rival_runner() = default;
  /// Starts the rival, lets it measure one round, and sees it end: no process is left behind, not
  /// even when this process is killed. The figures are those of metrics_of(). Throws rival_failure
  /// with what it printed.
  [[nodiscard]] virtual std::vector<double> next() = 0;
};

/// Whether a round of it is a program of its own, and not a part of this job.
[[nodiscard]] bool is_started(rival who) noexcept;

/// Throws tools::usage_error when this rival has no such thing to measure, and std::runtime_error
/// naming the Debian package when a program is missing. Starts nothing.
void check_rival(rival who, const rival_task& t);

/// As check_rival(). Heddle in another way is this program; everything else is a program of
/// bench/libraries, MPI's under their launchers.
[[nodiscard]] std::unique_ptr<rival_runner> make_rival_runner(rival who, const rival_task& t);

}  // namespace heddle::bench
