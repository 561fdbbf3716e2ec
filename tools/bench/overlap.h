// overlap.h - how much of a large message's transfer hides behind computing, on either side.
#pragma once
#include "bench/overlap_pass.h"
#include "bench/spec.h"

namespace heddle::bench {

struct overlap_options {
  options job;  ///< sizes, backend, ranks (2), rounds, time of a round, binding, rivals, json_file
  double compute_us = 100;
  computing who = computing::both;
};

/// Throws tools::usage_error or std::runtime_error when a rival can not be compared with.
void check_overlap_options(const overlap_options& o);

/// Inside a job of two ranks; rank 0 prints and writes. Collective. Throws std::exception.
void run_overlap_in_job(const overlap_options& o);

}  // namespace heddle::bench
