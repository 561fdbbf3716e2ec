// SPDX-License-Identifier: BSD-3-Clause
// goals.h - how fast Heddle is to be: rows of benchmarks, each with bounds on ratios to rivals.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "report/record.h"

namespace heddle::bench {

/// A bound on the median of Heddle divided by that of a contender, or less it, or on the metric of
/// a record of Heddle's own.
struct goal {
  std::string text = {};  ///< as in the file: "at most 0.8 x ucx", "at least 0.95 scaling, T=4"
  bool at_most = false;   ///< else at least
  double bound = 1;
  std::string against = {};  ///< ucx, bare, pair ...; empty: the metric counts
  bool above = false;        ///< the bound is on the difference to `against`, not on the ratio
  std::string metric = {};
  std::string op = {};  ///< of the record; empty: any
  int threads = 0;      ///< 0: the first
  unsigned cores = 0;   ///< with fewer of them it is not judged
  friend bool operator==(const goal&, const goal&) = default;
};

/// One benchmark of the table.
struct row {
  std::string name;
  std::vector<std::string> arguments;  ///< of `heddle bench`, without --rounds and --json
  std::vector<goal> goals;
  std::vector<std::string> settings = {};  ///< NAME=value, of all contenders
};

/// The rows of one section of a goals file: bench/report/goals.txt, which says its own form. Throws
/// std::runtime_error with the line that cannot be understood, and how one looks; usage_error
/// naming the sections when that one is not there.
[[nodiscard]] std::vector<row> parse_goals(const std::string& text, const std::string& section);
/// The same of a file. Throws std::runtime_error naming it.
[[nodiscard]] std::vector<row> read_goals(const std::filesystem::path& file,
                                          const std::string& section);

/// Those of `rows` whose names contain one of `patterns`; all when there is none. Throws
/// std::runtime_error listing the names when a pattern selects nothing.
[[nodiscard]] std::vector<row> select_rows(const std::vector<row>& rows,
                                           const std::vector<std::string>& patterns);

/// A row after it was measured.
struct outcome_row {
  row what;
  std::vector<record> records;  ///< empty: it failed
  std::string failure;
};

/// What `g` judges: Heddle's median over or less the rival's, or the record's; empty when the
/// records do not have it.
[[nodiscard]] std::optional<double> figure_of(const outcome_row& r, const goal& g);
[[nodiscard]] bool meets(const goal& g, double ratio);

/// One line per goal: row, goal, ratio, "pass" or "short", medians; "unjudged" where this process
/// may use fewer cores than the goal asks for.
[[nodiscard]] std::string text_table(const std::vector<outcome_row>& rows);
/// The same as a Markdown table with the commands.
[[nodiscard]] std::string markdown_table(const std::vector<outcome_row>& rows);

}  // namespace heddle::bench
