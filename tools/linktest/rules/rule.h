// SPDX-License-Identifier: BSD-3-Clause
// rule.h - what a user expects of every pair, and the pairs that miss it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "linktest/results/results.h"

namespace heddle::linktest {

enum class pair_class : std::uint8_t;
struct run_facts;

/// "[CLASS:]FIGURE>=VALUE" or "<=": FIGURE is median, min or bandwidth (bytes per second: from the
/// median time, from the largest one) or time or p99 (seconds per message); VALUE a number, a
/// number times ref, or ref. ref is the same pair in the baseline, or without one the median over
/// the pairs of its class_of() and that size. CLASS is host (both ranks on one host), other (on
/// two), all, which is usual, or one that class_of() tells: core, complex, socket, group, network.
struct rule {
  enum class figure : std::uint8_t { bandwidth, least_bandwidth, time, p99 };
  figure of = figure::bandwidth;
  std::vector<pair_class> among;  ///< of which it is for the pairs
  bool at_least = true;
  double value = 1;
  bool times_reference = false;
  std::string text;  ///< as it was given
};

/// Throws error naming the text and what is accepted.
[[nodiscard]] rule parse_rule(const std::string& text);

/// The figure of one entry; NaN where it was not measured.
[[nodiscard]] double value_of(rule::figure figure, const sketch& time, kernel k,
                              std::uint64_t bytes) noexcept;

/// Results to be judged: the matrix, and where the ranks are.
struct judged {
  const results& all;
  const run_facts& facts;
};

struct broken_rule {
  std::string rule;
  std::uint64_t bytes = 0;          ///< message size
  std::uint64_t pairs = 0, of = 0;  ///< that miss it, of those that it is for; of 0: of the run
  int initiator = -1, peer = -1;    ///< the worst of them
  double value = 0, wanted = 0;     ///< of that one
};

/// One entry per rule and size that some pair misses. `baseline`: null, or of as many ranks and
/// with the same sizes.
[[nodiscard]] std::vector<broken_rule> check_rules(const std::vector<rule>& rules,
                                                   const judged& run, const results* baseline);
/// A line. `names` of the ranks, as names_of_ranks() gives them.
[[nodiscard]] std::string in_words(const broken_rule& b, const std::vector<std::string>& names);

}  // namespace heddle::linktest
