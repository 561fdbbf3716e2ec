// SPDX-License-Identifier: BSD-3-Clause
// reading.h - results from any file or folder that holds some.
#pragma once
#include <string>

#include "linktest/results/run_facts.h"

namespace heddle::linktest {

/// The run at `path`: a folder of heddle linktest, its .h5 or .json, or a SION file of
/// LinkTest 1.x, known by what is in it and not by its name. Throws error naming the path, what is
/// wrong and what can be read.
[[nodiscard]] run_record read_results(const std::string& path);

}  // namespace heddle::linktest
