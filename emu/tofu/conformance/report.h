// SPDX-License-Identifier: BSD-3-Clause
// report.h - what came of the tests, on the terminal and for other programs.
#pragma once
#include <string>
#include <vector>

#include "test.h"

namespace conformance {

struct outcome {
  const test_case* of = nullptr;
  verdict result = verdict::skipped;
  double seconds = 0;
  std::string details;
};

/// "ok 21 Puts and gets of all sizes arrive: 3 ms".
void print(const outcome& one);

/// How many of each, and the numbers of those that need looking at.
void print_summary(const std::vector<outcome>& all);

/// Exit status of the run.
int status_of(const std::vector<outcome>& all, bool strict);

/// All of it with what is known about the library and the environment. False: not written.
bool write_json(const std::string& path, const std::vector<outcome>& all);

}  // namespace conformance
