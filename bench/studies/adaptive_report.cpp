// SPDX-License-Identifier: BSD-3-Clause
// adaptive_report.cpp - a case whose contenders are progress modes.
#include "studies/adaptive_report.h"

#include <fmt/core.h>

namespace heddle::bench {
namespace {

series series_of(const std::string& mode, int ranks) {
  return {.label = mode, .library = "heddle", .op = mode, .ranks = ranks};
}

}  // namespace

std::string offload_mode(std::size_t cores, int ranks) {
  return cores >= 2 * static_cast<std::size_t>(ranks) ? "dedicated" : "idle";
}

case_result adaptive_case(const adaptive_work& w, const std::string& offload, int ranks) {
  spec what{.what = kind::latency, .op = operation::tag};
  what.bytes = w.bytes;
  return {.what = what,
          .benchmark = "adaptive",
          .metrics = {{fmt::format("total_{:g}us", w.compute_us), "us"}},
          .backend = {},
          .contenders = {series_of("inline", ranks), series_of(offload, ranks),
                         series_of("adaptive", ranks)},
          .comparisons = {}};
}

std::string adaptive_title(const adaptive_work& w, const std::string& backend) {
  return fmt::format("adaptive tag {} B over {}, computing {:g} us ({}): total in us", w.bytes,
                     backend, w.compute_us, name_of(w.who));
}

void compare_with_best(case_result& c, const adaptive_work& w) {
  const auto time = [&c](std::size_t i) { return median(c.contenders[i].figures); };
  const std::size_t best = time(0) <= time(1) ? 0 : 1;
  c.comparisons = {{2, best, "heddle", fmt::format("ratio_{:g}us", w.compute_us)}};
}

}  // namespace heddle::bench
