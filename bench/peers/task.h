// task.h - what one run of a peer program measures: the words of `heddle bench`, for a rival.
#pragma once
#include <vector>

#include "bench/overlap_pass.h"
#include "bench/spec.h"

namespace heddle::peers {

using bench::kind;
using bench::operation;
using bench::spec;

struct task {
  spec what;             ///< kind, op, bytes, threads, window, and the length of a round
  bool overlap = false;  ///< that instead of what.what: one thread, one tagged message at a time
  bool gups = false;     ///< that instead: random updates by both ranks
  bool atomic = false;   ///< gups: by one remote xor instead of get, xor, put
  std::uint64_t memory_bytes = 20'000'000;  ///< gups: of a rank, of which the table takes half
  int paths = 0;  ///< communicators or workers that the threads of a rank share
  int rounds = 1;
  int limit_s = 60;  ///< seconds after which the program kills itself
  double compute_us = 100;
  bench::computing who = bench::computing::both;
  std::vector<int> cores = {};  ///< that all ranks may use; empty: not bound

  /// The path of a thread: neighbouring threads share one.
  [[nodiscard]] int path_of(int thread) const noexcept { return thread * paths / what.threads; }
  /// Whether both ranks' threads are more than the cores.
  [[nodiscard]] bool crowded() const noexcept {
    return !cores.empty() && 2 * what.threads > static_cast<int>(cores.size());
  }
};

/// From the command line. Ends the program when that is wrong, or after --help.
[[nodiscard]] task parse(int argc, char** argv);

/// Ties this rank to its cores, ends it with the launcher that started it and after the limit.
void settle_in(const task& t, int rank);

}  // namespace heddle::peers
