// SPDX-License-Identifier: BSD-3-Clause
// real_range.h - for options whose value is a number with a fraction.
#pragma once
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <string>

namespace heddle::tools {

/// Takes a number between `least` and `most`, both included. Unlike CLI::Range, which NaN falls out
/// of by no comparison.
[[nodiscard]] inline CLI::Validator real_range(double least, double most) {
  const auto refusal = [least, most](const std::string& text) -> std::string {
    const double value = std::strtod(text.c_str(), nullptr);
    if (value >= least && value <= most) return {};
    return fmt::format("'{}' is not in range {} to {}", text, least, most);
  };
  return {refusal, fmt::format("FLOAT in [{} - {}]", least, most)};
}

}  // namespace heddle::tools
