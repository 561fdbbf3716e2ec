// SPDX-License-Identifier: BSD-3-Clause
// dry_run.h - what a run would take, from its options alone.
#pragma once
#include <cstdint>
#include <string>

#include "linktest/options.h"

namespace heddle::linktest {

/// What a run takes. Computed in constant time and memory.
struct cost {
  std::uint64_t sections = 0;
  std::uint64_t steps = 0, ordered_pairs = 0;  ///< of each repetition and section
  double seconds = 0;       ///< of measuring, over links as assumed_latency_s and so on say
  double most_seconds = 0;  ///< where pairs take as many measurements as they may
  std::uint64_t bytes_sent = 0, most_bytes_sent = 0;  ///< by all ranks
  std::uint64_t rank_bytes = 0;       ///< memory of each rank: messages, and what it has measured
  std::uint64_t plan_bytes = 0;       ///< of that, for knowing who measures with whom and when
  std::uint64_t report_bytes = 0;     ///< memory of the rank that reports, on top
  std::uint64_t diagnosis_bytes = 0;  ///< of that, for looking for what is slow
  std::uint64_t file_bytes = 0;       ///< of results, where they are kept in a file meanwhile
};

/// Of a message, and of a host, whose ranks share it.
inline constexpr double assumed_latency_s = 2e-6, assumed_bytes_per_s = 10e9;

/// Of all sections together; memory is that of the greatest.
[[nodiscard]] cost cost_of(const options& chosen);
/// Of a job of so many ranks.
[[nodiscard]] cost cost_of(options chosen, int ranks);
/// What the rank that reports would have too little memory for where `there` bytes are, with the
/// cure; empty: for nothing.
[[nodiscard]] std::string lacking_memory(const options& chosen, int ranks, std::uint64_t there);
/// The table that --dry-run prints.
[[nodiscard]] std::string describe_cost(const options& chosen);

}  // namespace heddle::linktest
