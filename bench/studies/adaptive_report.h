// SPDX-License-Identifier: BSD-3-Clause
// adaptive_report.h - what the rounds of the progress modes came to, one amount of work at a time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels/overlap_pass.h"
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
[[nodiscard]] std::string offload_mode(std::size_t cores, int ranks);

/// No rounds yet: inline, `offload` and adaptive, in this order.
[[nodiscard]] case_result adaptive_case(const adaptive_work& w, const std::string& offload,
                                        int ranks);

/// One line that says what is measured.
[[nodiscard]] std::string adaptive_title(const adaptive_work& w, const std::string& backend);

/// After the last round: adaptive is to be compared with the better one of the other two.
void compare_with_best(case_result& c, const adaptive_work& w);

}  // namespace heddle::bench
