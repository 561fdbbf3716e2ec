// SPDX-License-Identifier: BSD-3-Clause
// ucx_output.cpp - ucx_perftest's comma-separated output as numbers.
#include "contenders/ucx_output.h"

#include <charconv>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace heddle::bench {
namespace {

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream in(line);
  for (std::string field; std::getline(in, field, ',');) fields.push_back(field);
  return fields;
}

std::optional<double> number(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_heading(const std::vector<std::string>& fields) {
  return !fields.empty() && fields.front() == "iterations";
}

/// The number under the heading `name`, which must be there and positive.
double column(const std::vector<std::string>& heading, const std::vector<std::string>& row,
              std::string_view name) {
  for (std::size_t i = 0; i < heading.size() && i < row.size(); ++i) {
    if (heading[i] != name) continue;
    if (const auto value = number(row[i]); value && *value > 0) return *value;
    throw std::runtime_error("column '" + std::string(name) + "' is '" + row[i] + "'");
  }
  throw std::runtime_error("there is no column '" + std::string(name) + "'");
}

ucx_result read_row(const std::vector<std::string>& heading, const std::vector<std::string>& row) {
  const double us = column(heading, row, "overall_lat");
  ucx_result result;
  result.iterations = static_cast<std::uint64_t>(column(heading, row, "iterations"));
  // Both say the same; the time has three decimals, the rate none.
  result.seconds_per_op = us >= 1 ? us * 1e-6 : 1 / column(heading, row, "overall_mr");
  return result;
}

}  // namespace

ucx_result parse_ucx_output(const std::string& output) try {
  std::vector<std::string> heading;
  std::vector<std::string> row;
  std::istringstream in(output);
  for (std::string line; std::getline(in, line);) {
    std::vector<std::string> fields = split(line);
    if (is_heading(fields)) {
      heading = std::move(fields);
    } else if (!heading.empty() && fields.size() == heading.size() && number(fields.front())) {
      row = std::move(fields);  // the last one counts: earlier ones are of a run in progress
    }
  }
  if (row.empty()) throw std::runtime_error("there is no line of results");
  return read_row(heading, row);
} catch (const std::runtime_error& why) {
  throw std::runtime_error(std::string("ucx_perftest printed something unexpected: ") + why.what() +
                           "; all of it:\n" + output);
}

}  // namespace heddle::bench
