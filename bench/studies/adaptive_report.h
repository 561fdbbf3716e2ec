// SPDX-License-Identifier: BSD-3-Clause
// adaptive_report.h - what the rounds of the progress modes came to, one amount of work at a time.
#pragma once
#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels/overlap.h"
#include "report/report.h"

namespace heddle::bench {

/// A message and what is computed beside it.
struct adaptive_work {
  std::uint64_t bytes = 0;
  double compute_us = 0;
  computing who = computing::sender;
};

/// Who moves operations that are not inline: "dedicated" where every rank and its executor can have
/// a core of their own, otherwise "idle": helpers that take no core from anybody.
[[nodiscard]] inline std::string offload_mode(std::size_t cores, int ranks) {
  return cores >= 2 * static_cast<std::size_t>(ranks) ? "dedicated" : "idle";
}

/// No rounds yet: inline, `offload` and adaptive, in this order.
[[nodiscard]] inline case_result adaptive_case(const adaptive_work& w, const std::string& offload,
                                               int ranks) {
  case_result c{.what = {.what = kind::latency, .op = operation::tag, .bytes = w.bytes},
                .benchmark = "adaptive",
                .metrics = {{fmt::format("total_{:g}us", w.compute_us), "us"}},
                .backend = {},
                .contenders = {},
                .comparisons = {}};
  for (const std::string& mode : {std::string("inline"), offload, std::string("adaptive")})
    c.contenders.push_back({.label = mode, .library = "heddle", .op = mode, .ranks = ranks});
  return c;
}

/// One line that says what is measured.
[[nodiscard]] inline std::string adaptive_title(const adaptive_work& w,
                                                const std::string& backend) {
  return fmt::format("adaptive tag {} B over {}, computing {:g} us ({}): total in us", w.bytes,
                     backend, w.compute_us, name_of(w.who));
}

/// After the last round: adaptive is to be compared with the better one of the other two.
inline void compare_with_best(case_result& c, const adaptive_work& w) {
  const auto time = [&c](std::size_t i) { return median(c.contenders[i].figures); };
  const std::size_t best = time(0) <= time(1) ? 0 : 1;
  c.comparisons = {{2, best, "heddle", fmt::format("ratio_{:g}us", w.compute_us)}};
}

}  // namespace heddle::bench
