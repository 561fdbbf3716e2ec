// SPDX-License-Identifier: BSD-3-Clause
// trace_summary.h - what the files of HEDDLE_TRACE come to: how long operations took, by kind, and
// the longest sleeps.
#pragma once
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace heddle::tools {

/// A file of one rank, as written by HEDDLE_TRACE, or merged ones. Throws error that names `path`:
/// it cannot be read, or is no trace.
[[nodiscard]] nlohmann::json read_trace(const std::string& path);

struct kind_summary {
  std::string name;
  std::size_t count = 0, failed = 0;
  double median_us = 0, p99_us = 0, longest_us = 0;
};
struct sleep_summary {
  int rank = 0;
  std::int64_t thread = 0;
  std::string by;
  double begin_us = 0, us = 0;  ///< begin: since the first event of all
  bool woken = false;
};
struct trace_summary {
  std::vector<kind_summary> kinds;    ///< operations, then the engine's own, by name
  std::vector<sleep_summary> sleeps;  ///< longest first
  std::uint64_t lost_events = 0;
  std::uint64_t sample = 1;  ///< the largest of the files
};

/// Of some ranks' files together, with the `most` longest sleeps.
[[nodiscard]] trace_summary summarise(const std::vector<nlohmann::json>& traces, std::size_t most);

/// For people.
[[nodiscard]] std::string text_of(const trace_summary& of);
[[nodiscard]] nlohmann::ordered_json as_json(const trace_summary& of);

}  // namespace heddle::tools
