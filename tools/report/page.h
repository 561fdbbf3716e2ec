// SPDX-License-Identifier: BSD-3-Clause
// page.h - runs of the link tester as one page for a browser, which needs nothing else.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "linktest/results/run_facts.h"

namespace heddle::report {

struct named_run {
  std::string name;  ///< where it came from, for people
  linktest::run_record run;
};

inline constexpr int most_ranks_of_page = 2048;

/// The page of one run, or of two and what changed between them. Throws error: it would be too
/// large for a browser.
[[nodiscard]] std::string make_page(const std::vector<named_run>& runs);

/// RFC 4648, with padding.
[[nodiscard]] std::string base64(std::string_view bytes);

}  // namespace heddle::report
