// SPDX-License-Identifier: BSD-3-Clause
// summary.h - the end of a run on the terminal: figures, slowest pairs, failed pairs, pictures.
#pragma once
#include <string>

#include "linktest/draw/palette.h"
#include "linktest/results/run_facts.h"

namespace heddle::linktest {

/// Who is going to measure what.
[[nodiscard]] std::string describe_run(const run_facts& facts);
/// That ranks share cores, and what that means; empty when none do.
[[nodiscard]] std::string crowding_warning(const run_facts& facts);
/// Minimum, median and maximum over the pairs of each class, per size and metric.
[[nodiscard]] std::string figures(const run_facts& facts, const results& all);
/// What the pairs of a step carry together, and the messages from all to all between steps; empty
/// where neither is known.
[[nodiscard]] std::string together(const run_facts& facts);
/// What the same messages take without a link tester, beside what it measured of that pair, and
/// whether the clock is fine enough for them; empty when nobody knows.
[[nodiscard]] std::string own_cost(const run_facts& facts, const results& all);
/// The slowest pairs of each size with hosts, beside the median of their class; empty when none are
/// wanted or none is slower than that.
[[nodiscard]] std::string slowest_pairs(const run_facts& facts, const results& all);
/// Which pairs failed and how, the first few by name; empty when none did.
[[nodiscard]] std::string failures(const run_facts& facts, const results& all);
/// The smallest size's times and the largest size's bandwidths as heat maps, by rank and by host,
/// beside each other where there is room.
[[nodiscard]] std::string pictures(const run_facts& facts, const results& all, color_depth depth);

}  // namespace heddle::linktest
