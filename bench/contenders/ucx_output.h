// SPDX-License-Identifier: BSD-3-Clause
// ucx_output.h - reads what ucx_perftest prints.
#pragma once
#include <cstdint>
#include <string>

namespace heddle::bench {

/// The averages over one run of ucx_perftest.
struct ucx_result {
  std::uint64_t iterations = 0;
  double seconds_per_op = 0;  ///< ping-pong tests: half a round trip; others: one operation
};

/// Reads the output of `ucx_perftest -f -v`: a line of column names, a line of numbers; other lines
/// (warnings) may stand anywhere. Columns are found by name, so that a release may add some.
/// Throws std::runtime_error quoting the output when there is no such line, or a number is not
/// positive.
[[nodiscard]] ucx_result parse_ucx_output(const std::string& output);

}  // namespace heddle::bench
