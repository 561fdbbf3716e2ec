// report.h - what a case's rounds came to: for people as text, for programs as records.
#pragma once
#include <string>
#include <vector>

#include "bench/record.h"
#include "bench/spec.h"

namespace heddle::bench {

/// One contender's figures, one per round, in the metric's unit.
struct series {
  std::string label;    ///< heddle, ucx, bare, pair
  std::string library;  ///< as in a record; `pair` is heddle too
  int ranks = 2;
  std::vector<double> figures = {};  ///< fewer than rounds when it failed in one
  std::vector<double> stamps = {};   ///< of single operations; empty where unknown
  std::string failure = {};          ///< of a rival, and all that it printed; empty: none
};

/// One size of one benchmark. The first series is Heddle's.
struct case_result {
  spec what;
  std::string backend;
  std::vector<series> contenders;
  std::vector<double> cache_line_ns = {};  ///< one per round
};

/// One line that says what is measured.
[[nodiscard]] std::string title(const case_result& c);
/// Names of the columns that round_line fills.
[[nodiscard]] std::string round_heading(const case_result& c);
/// The latest round.
[[nodiscard]] std::string round_line(const case_result& c);
/// Statistics of every contender, the ratios of Heddle's median to the others', and who failed.
[[nodiscard]] std::string summary_table(const case_result& c);
/// One record per contender that has figures, per ratio ("heddle/ucx") and for the cache line.
[[nodiscard]] std::vector<record> records_of(const case_result& c);

}  // namespace heddle::bench
