// offload_cost.h - `heddle bench latency-overhead --offload`: what leaving a get to an executor
// costs.
#pragma once
#include "bench/spec.h"

namespace heddle::bench {

/// Throws usage_error when these options can not be honoured with --offload.
void check_offload_cost(const options& o);

/// On every rank. Throws std::exception; then the launcher must end the job.
void run_offload_cost_in_job(const options& o);

}  // namespace heddle::bench
