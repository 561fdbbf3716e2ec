// summary.h - the end of a run on the terminal: figures, slowest pairs, failed pairs, pictures.
#pragma once
#include <string>

#include "linktest/palette.h"
#include "linktest/run_facts.h"

namespace heddle::linktest {

/// One line that says what is going to be measured.
[[nodiscard]] std::string describe_run(const run_facts& facts);
/// Minimum, median and maximum over all pairs, per size and metric.
[[nodiscard]] std::string figures(const results& all);
/// The slowest pairs of each size with hosts; empty when none are wanted.
[[nodiscard]] std::string slowest_pairs(const run_facts& facts, const results& all);
/// Which pairs failed and how, the first few by name; empty when none did.
[[nodiscard]] std::string failures(const run_facts& facts, const results& all);
/// The smallest size's times and the largest size's bandwidths as heat maps.
[[nodiscard]] std::string pictures(const run_facts& facts, const results& all, color_depth depth);

}  // namespace heddle::linktest
