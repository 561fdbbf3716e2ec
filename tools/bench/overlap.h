// overlap.h - how much of a large message's transfer hides behind computing, on either side.
#pragma once
#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

#include "bench/spec.h"

namespace heddle::bench {

/// Which sides compute between posting and waiting.
enum class computing { sender, receiver, both };
[[nodiscard]] const std::map<std::string, computing>& computing_names();

struct overlap_options {
  options job;
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

/// Adds the command `overlap`.
void add_overlap(CLI::App& bench, int& code);

}  // namespace heddle::bench
