// SPDX-License-Identifier: BSD-3-Clause
// expectation.h - the values of --expect: rules for all sections or some, given or from a file.
#pragma once
#include <string>
#include <vector>

#include "linktest/options.h"

namespace heddle::linktest {

/// The rules that a value of --expect stands for: itself, or for "@FILE" the file's lines, but for
/// empty ones and what follows a '#'. Throws error naming the rule, or the file and line, and what
/// is accepted.
[[nodiscard]] std::vector<std::string> expectations_of(const std::string& value);

/// Those of `rules` that are for a section, each without what says so: "WORDS/RULE" is for sections
/// that have all of the WORDS ("tcp", "uni-put-tcp"), any other rule for every section. `how` is
/// the section's.
[[nodiscard]] std::vector<std::string> rules_for(const std::vector<std::string>& rules,
                                                 const options& how);

}  // namespace heddle::linktest
