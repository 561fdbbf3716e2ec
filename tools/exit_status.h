// SPDX-License-Identifier: BSD-3-Clause
// exit_status.h - what the program `heddle` ends with; its --help shows the same table.
#pragma once
#include <stdexcept>

namespace heddle::tools {

/// The same number means the same in every command. `heddle run` gives its program's own status
/// where there is one; 128 + N is an end by signal N, and 128 + SIGPIPE also that of a command
/// which has done its work and written its files, but whose output nobody read to the end.
enum exit_status : int {
  success = 0,
  failed = 1,       ///< could not run, or not write its results; the reason was printed
  bad_usage = 2,    ///< an option is wrong, or cannot be honoured here
  corrupted = 3,    ///< other bytes arrived than were sent
  incomplete = 4,   ///< something could not be measured
  slow_part = 5,    ///< linktest: all was measured, and a node, rail or link is slow
  rule_missed = 6,  ///< linktest: a rule or the baseline is missed, or could not be compared with
};

/// What the user asked for makes no sense or is not possible here: ends in bad_usage.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace heddle::tools
