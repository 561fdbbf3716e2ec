// SPDX-License-Identifier: BSD-3-Clause
// ucx_perftest.h - UCX's own measuring program, which our loops over UCX are held against.
#pragma once
#include <cstdint>
#include <string>

#include "contenders/rivals.h"

namespace heddle::bench {

/// Seconds per operation, of ping-pong tests half a round trip, that the output of `ucx_perftest -f
/// -v` tells: a line of column names, a line of numbers; other lines (warnings) may stand anywhere.
/// Columns are found by name, so that a release may add some. Throws std::runtime_error quoting the
/// output when there is no such line, or a number is not positive.
[[nodiscard]] double parse_ucx_output(const std::string& output);

/// Path of ucx_perftest. Throws std::runtime_error naming the package when it is missing.
[[nodiscard]] std::string find_ucx();

/// A round of ucx_perftest's test for the same thing, which lasts about as long as `t` says:
/// seconds per operation. `iterations` follow the rate, for this round and the next. Server and
/// client are killed after its patience; no process is left behind, not even when this process is
/// killed. Throws std::runtime_error with what they printed.
[[nodiscard]] double ucx_round(const task& t, std::uint64_t& iterations);

}  // namespace heddle::bench
