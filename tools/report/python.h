// SPDX-License-Identifier: BSD-3-Clause
// python.h - the part of a report that Python draws.
#pragma once
#include <string>
#include <vector>

namespace heddle::report {

/// Runs `python3 -m MODULE ARGUMENTS...` with Heddle's own packages in its path and returns its
/// exit status; it has then said what is wrong. Prefers an interpreter that has matplotlib. Throws
/// error: there is no Python, or the package is not installed.
[[nodiscard]] int run_module(const std::string& module, const std::vector<std::string>& arguments);

}  // namespace heddle::report
