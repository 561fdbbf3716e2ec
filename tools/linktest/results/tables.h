// SPDX-License-Identifier: BSD-3-Clause
// tables.h - results as lines: CSV and JSON Lines for analysis, Prometheus text for monitoring.
#pragma once
#include <string>

#include "linktest/results/run_facts.h"
#include "linktest/results/text_file.h"

namespace heddle::linktest {

/// A line of names, then one per size and ordered pair with all that is kept of it; seconds and
/// bytes per second, empty where nothing is known. Text with a comma or quote is in quotes (RFC
/// 4180). In the memory of a line.
void write_csv(const text_sink& out, const run_facts& facts, const results& all);

/// The same with an object per line. The first line is the run's facts.
void write_json_lines(const text_sink& out, const run_facts& facts, const results& all);

/// Prometheus' text format, for its node exporter's textfile collector: figures by size and class
/// of pair, counts of failed pairs, and how the run went. As many lines for any number of ranks.
[[nodiscard]] std::string to_prometheus(const run_facts& facts, const results& all);

}  // namespace heddle::linktest
