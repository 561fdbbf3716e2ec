// SPDX-License-Identifier: BSD-3-Clause
// plot.h - figures from records, drawn by a script in Python with matplotlib.
#pragma once
#include <string>
#include <vector>

#include "harness/child.h"

namespace heddle::bench {

struct plot_options {
  std::string folder;  ///< with files of records
  std::string out;     ///< for the figures; empty: the same
  std::vector<std::string> formats{"png"};
};

/// The first of these interpreters that can import matplotlib. Throws std::runtime_error naming the
/// Debian package that is missing.
[[nodiscard]] std::string find_python(const std::vector<std::string>& candidates);

/// How `python` is told to draw.
[[nodiscard]] command plot_command(const std::string& python, const plot_options& o);

/// Draws, and returns an exit status; the script has then said what is wrong. Throws
/// std::runtime_error.
[[nodiscard]] int plot(const plot_options& o);

}  // namespace heddle::bench
