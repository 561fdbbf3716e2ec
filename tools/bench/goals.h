// goals.h - how fast Heddle is to be: rows of benchmarks, each with bounds on ratios to rivals.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "bench/record.h"
#include "bench/spec.h"

namespace heddle::bench {

/// Which of a row's records of Heddle's holds the figure that is judged.
struct chosen_record {
  std::string metric;
  std::string op = {};  ///< empty: any
  int threads = 0;      ///< 0: any
};

/// A bound on the median of Heddle divided by the median of `against` (ucx, bare or pair), or on
/// what a record holds already, which `against` then names.
struct goal {
  std::string against;
  double bound = 1;
  std::optional<chosen_record> record = {};
  int threads = 0;  ///< whose medians, where several counts compete; 0: the first
};

/// One benchmark of the table. A latency's (a cost's) bounds are upper ones, all others lower ones.
struct row {
  std::string name;
  kind what;
  std::vector<std::string> arguments;  ///< of `heddle bench`, without --rounds and --json
  std::vector<goal> goals;
  std::vector<std::string> settings = {};  ///< NAME=value, of all contenders
};

/// The rows over shm and tcp, in the order of docs/performance.md.
[[nodiscard]] const std::vector<row>& all_rows();
/// Those over utofu, where the other rows of docs/performance.md stand.
[[nodiscard]] const std::vector<row>& utofu_rows();
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

/// What `g` judges: Heddle's median over the rival's, or the record's; empty when the records do
/// not have it.
[[nodiscard]] std::optional<double> figure_of(const outcome_row& r, const goal& g);
[[nodiscard]] bool meets(const row& r, const goal& g, double ratio);

/// "at most 0.8 x ucx", "at least 0.95 (T=4)"
[[nodiscard]] std::string describe(const row& r, const goal& g);

/// One line per goal: row, goal, ratio, "pass" or "short", medians.
[[nodiscard]] std::string text_table(const std::vector<outcome_row>& rows);
/// The same as a Markdown table with the commands.
[[nodiscard]] std::string markdown_table(const std::vector<outcome_row>& rows);

}  // namespace heddle::bench
