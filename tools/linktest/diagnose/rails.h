// SPDX-License-Identifier: BSD-3-Clause
// rails.h - what the diagnoses of a wire's rails, each measured alone, say together.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "linktest/diagnose/verdict.h"

namespace heddle::linktest {

/// What was found over one rail.
struct rail_findings {
  int rail = 0;
  std::optional<diagnosis> slow;  ///< none: it was not looked for
  bool all_judged = true;         ///< false: some ranks were left out
};

/// The slow parts of all of them, the strongest first, contention left out. What is slow over each
/// rail is a node or link as it was; of a node that is slow over some of them only, each of these
/// is a slow rail. Where another one was not judged, the verdict lists the node besides. `one_way`
/// as in surroundings. Each rail once, two or more.
[[nodiscard]] std::vector<verdict> verdicts_on_rails(std::span<const rail_findings> rails,
                                                     bool one_way);

}  // namespace heddle::linktest
