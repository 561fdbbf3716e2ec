// SPDX-License-Identifier: BSD-3-Clause
// resumption.h - a rank of a job that goes on with an unfinished run.
#pragma once
#include "linktest/options.h"

namespace heddle::linktest {

/// run_rank() for the run in `now.resume`, whose options rank 0 reads and tells the others: they
/// need not see its folder. Throws error as run_rank() does, and on rank 0 when there is none.
[[nodiscard]] int resume_rank(const options& now);

}  // namespace heddle::linktest
