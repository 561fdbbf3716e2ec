// overlap_report.h - what the rounds of overlap came to, for every library that moved the messages.
#pragma once
#include <string>
#include <vector>

#include "bench/overlap_pass.h"
#include "bench/record.h"

namespace heddle::bench {

/// One library's rounds.
struct overlap_series {
  std::string library;
  std::vector<side_round> sender = {}, receiver = {};  ///< fewer than rounds when it failed in one
  std::string failure = {};                            ///< and what it printed; empty: none
};

/// One size. The first series is Heddle's.
struct overlap_case {
  computing who = computing::both;
  double compute_us = 0;
  std::uint64_t bytes = 0;
  std::string backend;
  std::vector<overlap_series> libraries;
  int ranks = 2;  ///< of Heddle's job; a rival has two
};

/// A line for each library and side that computes: medians of the rounds, and who failed.
[[nodiscard]] std::string overlap_table(const overlap_case& c);

/// For each of these lines the ratio and its times, with and without computing; and the ratio of
/// Heddle's total time to each rival's ("heddle/ucx").
[[nodiscard]] std::vector<record> overlap_records(const overlap_case& c);

}  // namespace heddle::bench
