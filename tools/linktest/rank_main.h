// SPDX-License-Identifier: BSD-3-Clause
// rank_main.h - what one rank of a link test does, from joining its job to its exit status.
#pragma once
#include "linktest/options.h"

namespace heddle::linktest {

/// Joins the job this process was launched in and takes part in the measurement. Rank 0, or
/// when it is lost the next rank, prints, writes the files and returns the run's exit status;
/// another rank returns 0 unless its results were lost. Throws error when the job cannot be joined
/// or the results cannot be written.
[[nodiscard]] int run_rank(options chosen);

}  // namespace heddle::linktest
