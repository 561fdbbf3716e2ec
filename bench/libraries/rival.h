// SPDX-License-Identifier: BSD-3-Clause
// rival.h - the program around a rival's library: two ranks on this machine, measured by the
// kernels that measure Heddle; rank 0 prints a line of JSON for each round.
#pragma once
#include <fmt/core.h>

#include <cstdio>
#include <exception>
#include <stdexcept>

#include "harness/process_pair.h"
#include "kernels/kernels.h"
#include "libraries/task.h"

namespace heddle::bench {

/// A library L is made of its pair of processes, L::pair, and a task; see make_measurement().
template <class Library>
void measure_rounds(Library& self, int rank, const task& t) {
  const measurement round = make_measurement(self, t.what, rank, t.crowded());
  for (int i = 0; i < t.rounds; ++i) {
    const round_result r = round();
    if (t.gups() && r.figures[1] > tolerated_losses(t.what.atomic))
      throw std::runtime_error(
          fmt::format("{:.2f} % of the updates were lost", r.figures[1] * 100));
    if (rank != 0) continue;
    fmt::print("{}\n", to_line(r));
    std::fflush(stdout);
  }
}

/// The main function of a rival's program. 1, with the reason on stderr, when something fails.
template <class Library>
int rival_main(int argc, char** argv) {
  const task t = parse(argc, argv);
  const auto fail = [&](const std::exception& why) {
    fmt::print(stderr, "{}: {}\n", argv[0], why.what());
    std::fflush(stderr);
    return 1;
  };
  try {
    typename Library::pair both;
    settle_in(t, both.rank());
    try {
      Library self(both, t);
      measure_rounds(self, both.rank(), t);
    } catch (const std::exception& why) {
      const int status = fail(why);
      both.abandon();
      return status;
    }
    return 0;
  } catch (const std::exception& why) {
    return fail(why);
  }
}

}  // namespace heddle::bench
