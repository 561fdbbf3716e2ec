// overlap.h - how much of a large message's transfer hides behind computing, on either side.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "bench/spec.h"

namespace heddle::bench {

/// Which sides compute between posting and waiting.
enum class computing { sender, receiver, both };
[[nodiscard]] const std::map<std::string, computing>& computing_names();

struct overlap_options {
  options job;  ///< sizes, backend, ranks (2), rounds, time of a round, binding, json_file
  double compute_us = 100;
  computing who = computing::both;
};

/// One side's times of one iteration, medians of a round, in seconds.
struct side_times {
  double post = 0;     ///< the call that starts the transfer
  double compute = 0;  ///< what was computed meanwhile
  double wait = 0;     ///< until it was complete
  double total = 0;
};

/// Inside a job of two ranks; rank 0 prints and writes. Collective. Throws std::exception.
void run_overlap_in_job(const overlap_options& o);

}  // namespace heddle::bench
