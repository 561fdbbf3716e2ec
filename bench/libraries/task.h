// SPDX-License-Identifier: BSD-3-Clause
// task.h - what one run of a rival's program measures, as words of its command line and back.
#pragma once
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "harness/rounds.h"
#include "harness/spec.h"

namespace heddle::bench {

/// What a rival measures, between two processes of its own on this machine.
struct task {
  /// Its target matters to the bare limits alone, its buffers to these and UCX; its lanes are
  /// communicators, workers or VCQs, which the threads of a rank share.
  spec what;
  std::string backend = "auto";  ///< shm, tcp, utofu or verbs: it gets nothing else
  std::vector<int> cores = {};  ///< for both ranks, as cores_of_rank() deals them; empty: not bound
  std::chrono::seconds limit{30};  ///< what its rounds may take beyond their own time
  int rounds = 1;

  [[nodiscard]] bool overlap() const noexcept { return what.what == kind::overlap; }
  [[nodiscard]] bool gups() const noexcept { return what.what == kind::gups; }
  /// How long all of it may take.
  [[nodiscard]] std::chrono::seconds patience() const {
    return std::chrono::ceil<std::chrono::seconds>(rounds * what.time + limit);
  }
  /// Bytes of a rank's table that the other one may address.
  [[nodiscard]] std::size_t table_bytes() const;
  /// Whether the operations need that table.
  [[nodiscard]] bool needs_table() const noexcept {
    return gups() || (what.op != operation::tag && what.op != operation::am);
  }
  [[nodiscard]] int paths() const noexcept {
    return what.lanes < 1 || what.lanes > what.threads ? what.threads : what.lanes;
  }
  /// The path of a thread: neighbouring threads share one.
  [[nodiscard]] int path_of(int thread) const noexcept { return lane_index(what, thread); }
  /// Whether both ranks' threads are more than the cores.
  [[nodiscard]] bool crowded() const noexcept {
    return !cores.empty() && 2 * what.threads > static_cast<int>(cores.size());
  }
};

/// From the command line. Ends the program when that is wrong, or after --help.
[[nodiscard]] task parse(int argc, char** argv);
/// The arguments from which parse() makes the same.
[[nodiscard]] std::vector<std::string> words_of(const task& t);

/// Ties this rank to its cores, and ends it with the launcher that started it, or some time after
/// its patience, if nobody else has done so.
void settle_in(const task& t, int rank);

/// A round as the line of JSON that a rival's program prints.
[[nodiscard]] std::string to_line(const round_result& r);
/// All such lines in what a program printed; other lines (a launcher's warnings) may stand
/// anywhere. Throws std::runtime_error quoting a line that begins like one and is not, or whose
/// first figure is not positive.
[[nodiscard]] std::vector<round_result> parse_lines(const std::string& output);

}  // namespace heddle::bench
