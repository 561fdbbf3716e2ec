// SPDX-License-Identifier: BSD-3-Clause
// of_results.h - a diagnosis of what a run has measured.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <vector>

#include "linktest/diagnose/diagnose.h"
#include "linktest/plan/plan.h"
#include "linktest/results/run_facts.h"

namespace heddle::linktest {

/// Memory that a diagnosis takes for each ordered pair, of one size at a time: with what
/// additive_model makes of it.
inline constexpr std::uint64_t bytes_of_observation = sizeof(observation) + 30;

/// What is known of a run besides its results.
struct run_setting {
  const run_facts& facts;  ///< what was chosen, and where the ranks are
  const plan& steps;
  std::set<int> left_out{};  ///< ranks of which the times say nothing of the network
};

/// Measures pairs again with messages of so many bytes.
using sized_prober = std::function<std::vector<float>(std::span<const probe>, std::uint64_t bytes)>;

/// The measured pairs of one size. The step is that of the first repetition.
[[nodiscard]] std::vector<observation> observations_of(const results& all, std::size_t size_index,
                                                       const run_setting& run);

/// All sizes; a part that is slow in several is named once, where it is slowest. A pair is compared
/// with those of its class_of(). Where one rail of a wire was measured alone, verdicts are on that
/// rail, though they name a node: its other rails were not looked at. `again` empty: no retests.
[[nodiscard]] diagnosis diagnose_results(const results& all, const run_setting& run,
                                         const sized_prober& again);

}  // namespace heddle::linktest
