// overlap.h - how much of a large message's transfer hides behind computing, on either side.
#pragma once
#include "bench/overlap_pass.h"
#include "bench/spec.h"

namespace heddle::bench {

struct overlap_options {
  options job;  ///< sizes, backend, ranks (2), rounds, time of a round, binding, json_file
  double compute_us = 100;
  computing who = computing::both;
};

/// Inside a job of two ranks; rank 0 prints and writes. Collective. Throws std::exception.
void run_overlap_in_job(const overlap_options& o);

}  // namespace heddle::bench
