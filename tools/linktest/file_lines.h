// SPDX-License-Identifier: BSD-3-Clause
// file_lines.h - files that people write for the link tester, line by line.
#pragma once
#include <string>
#include <vector>

namespace heddle::linktest {

/// Without any of `blanks` at its ends.
[[nodiscard]] std::string trimmed(const std::string& text, const char* blanks = " \t");

/// A line that says something, without what follows a '#' and without blanks at its ends.
struct file_line {
  int number;  ///< in the file, from 1
  std::string text;
};

/// Throws error when the file cannot be read.
[[nodiscard]] std::vector<file_line> lines_of_file(const std::string& path);

}  // namespace heddle::linktest
