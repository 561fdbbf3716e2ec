// SPDX-License-Identifier: BSD-3-Clause
// run.h - a benchmark inside a job: every rank calls this.
#pragma once
#include "harness/spec.h"

namespace heddle::bench {

/// Throws usage_error when these options can not be honoured together, naming which and why.
void check_options(const options& o);

/// Measures every size in alternating rounds; rank 0 prints and writes. The exit status: corrupted
/// when updates were lost. Collective over the job. Throws std::exception; then the launcher must
/// end the job.
[[nodiscard]] int run_in_job(const options& o);

}  // namespace heddle::bench
