// SPDX-License-Identifier: BSD-3-Clause
// report.h - what a case's rounds came to: for people as text, for programs as records.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "harness/rounds.h"
#include "harness/spec.h"
#include "report/record.h"

namespace heddle::bench {

/// Somebody who is measured in turn, and the figures, one per round, in the metric's unit.
struct series {
  std::string label;    ///< heddle, ucx, bare, pair; with T=4 where thread counts compete
  std::string library;  ///< as in a record; `pair` is heddle too
  std::string op = {};  ///< as in a record, where it is not that of the case
  int ranks = 2;
  int threads = 1;
  std::vector<double> figures = {};             ///< fewer than rounds when it failed in one
  std::vector<std::vector<double>> parts = {};  ///< of the other metrics: each one's figures
  std::vector<double> p99 = {};                 ///< of single operations; empty where unknown
  std::string failure = {};  ///< of a rival, and all that it printed; empty: none
  /// Measures a round: called on every rank, rank 0's answer counts.
  std::function<round_result()> round = {};
};

/// Adds a round, which has a figure for each metric.
void add_round(series& to, const round_result& r);

/// A ratio that is shown and recorded: of the median of one contender to that of another.
struct comparison {
  std::size_t of = 0, to = 0;   ///< places among the contenders
  std::string library, metric;  ///< as in a record
  std::size_t measure = 0;      ///< which of the case's metrics
};

/// Heddle to each rival with as many threads, and each library's thread counts to its first.
[[nodiscard]] std::vector<comparison> usual_comparisons(const std::vector<series>& contenders);

/// One size of one benchmark. The first series is Heddle's.
struct case_result {
  spec what;
  std::string benchmark = name_of(what.what);
  std::string op = name_of(what.op);
  std::vector<metric> metrics = metrics_of(what);
  std::string backend;
  std::vector<series> contenders;
  std::vector<comparison> comparisons = usual_comparisons(contenders);
  std::vector<double> cache_line_ns = {};  ///< one per round
};

/// One line that says what is measured, of the common benchmarks.
[[nodiscard]] std::string title(const case_result& c);
/// Names of the columns that round_line fills.
[[nodiscard]] std::string round_heading(const case_result& c);
/// The latest round.
[[nodiscard]] std::string round_line(const case_result& c);
/// Statistics of every contender, the other metrics, the ratios, and who failed.
[[nodiscard]] std::string summary_table(const case_result& c);
/// The same rounds of a ping-pong as the bandwidth of a rank: a message of each thread in the
/// one-way time. Without the cache line, which stands beside the latencies.
[[nodiscard]] case_result aggregate_bandwidth(const case_result& latencies);

/// One record per contender that has figures and metric, per ratio ("heddle/ucx"; "scaling" for
/// thread counts) and for the cache line.
[[nodiscard]] std::vector<record> records_of(const case_result& c);

}  // namespace heddle::bench
