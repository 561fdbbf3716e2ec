// SPDX-License-Identifier: BSD-3-Clause
// table.h - `heddle bench table`: measures all rows of the goals, one job after the other.
#pragma once
#include <chrono>
#include <string>
#include <vector>

namespace heddle::bench {

struct table_options {
  std::vector<std::string> rows;        ///< parts of names; empty: all
  std::string section = "shm and tcp";  ///< of the goals; or utofu, verbs
  std::string goals_file;               ///< empty: the one that comes with the program
  int rounds = 5;
  std::chrono::milliseconds time{200};  ///< of one round
  std::string
      resume_folder;      ///< keeps each row's records, which are not measured again; empty: none
  std::string json_file;  ///< all records; empty: none
  std::string markdown_file;  ///< empty: none
};

/// Runs the rows and prints what was reached; a row that fails is named and the others go on.
/// Returns success, or incomplete when a row failed to run; a goal that is not met is a result, not
/// a failure. Throws usage_error, and std::runtime_error for files that can not be written.
[[nodiscard]] int run_table(const table_options& o);

}  // namespace heddle::bench
