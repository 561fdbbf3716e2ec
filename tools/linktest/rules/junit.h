// SPDX-License-Identifier: BSD-3-Clause
// junit.h - a run's findings as the XML that CI systems read.
#pragma once
#include <string>

#include "linktest/results/run_facts.h"

namespace heddle::linktest {

/// A suite with a case for what was measured, for the data, for the diagnosis, and for each rule
/// (and the baseline) at each message size. What was not looked at is skipped, with the reason.
[[nodiscard]] std::string to_junit(const run_facts& facts, const results& all);

}  // namespace heddle::linktest
