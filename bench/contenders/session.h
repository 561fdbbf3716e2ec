// SPDX-License-Identifier: BSD-3-Clause
// session.h - a benchmark inside a job: this rank's place and on which cores the ranks of this host
// measure, the rounds of all contenders in turn, and the records at the end.
#pragma once
#include <heddle/world.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "libraries/station.h"
#include "parts/pinning.h"
#include "report/report.h"
#include "run/binding.h"

namespace heddle::bench {

/// The CPUs that each rank of this host measures on, by --bind: what its launcher has bound it to,
/// or, where that has bound nothing, its share of what all may use. A rank's n threads are tied to
/// the first n of its seat. One thread.
class host_seats {
 public:
  explicit host_seats(const tools::binding& how);

  /// Before there is a world: ties this thread, and so what the world will start, if the launcher
  /// has bound this rank.
  void take_early(int threads) const;
  /// Collective: learns where the others are. Throws std::runtime_error and heddle::error.
  void meet(const world& job, lane& over);
  /// Ties the calling thread, and those it starts from now on; nothing happens without seats.
  void take(int threads) const;

  /// `threads` CPUs, or as many as there are, of the first rank of this host, then of the second;
  /// of an only rank its first two. Empty: ranks have no seats.
  [[nodiscard]] std::vector<int> pair(int threads) const;
  /// Whether so many threads of each of the first `ranks` ranks are more than CPUs here.
  [[nodiscard]] bool crowded(int ranks, int threads) const;

 private:
  const tools::binding how_;
  const std::vector<int> mine_;          ///< as this process was started
  std::vector<rank> ranks_;              ///< of this host
  std::vector<std::vector<int>> seats_;  ///< by place in ranks_, or none
  std::size_t own_ = 0;                  ///< place in ranks_
  std::size_t cpus_ = 0;                 ///< that ranks of this host may use
};

/// Prints a line at once. Never throws, see standard_output.h.
void print_line(const std::string& line);

/// What cases came to, as rank 0 tells it.
class results {
 public:
  /// Prints the statistics, and keeps the records for the file.
  void conclude(const case_result& c);
  /// After the last measurement: writes the file; an empty name: none.
  void write(const std::string& json_file) const;

 private:
  std::vector<record> records_;
};

/// Collective over the job; rank 0 prints and writes. Everything throws std::exception; then the
/// launcher must end the job.
class session {
 public:
  /// Joins over the backend and on the cores that `o` says, which must outlive this. Sets
  /// HEDDLE_BACKENDS and the thread's affinity for the rest of the process.
  explicit session(const options& o);

  [[nodiscard]] const options& what() const noexcept { return o_; }
  [[nodiscard]] station& at() noexcept { return at_; }
  [[nodiscard]] world& job() noexcept { return *job_; }
  [[nodiscard]] bool reports() const noexcept { return at_.self() == 0; }
  [[nodiscard]] const std::string& backend() const noexcept { return backend_; }
  /// The cores that ranks of this host, and rivals, measure on.
  [[nodiscard]] const host_seats& seats() const noexcept { return seats_; }
  /// Of the first two ranks; any core when they are not bound.
  [[nodiscard]] bare::core_pair pair() const;

  /// Measures the contenders of `c` in turn, what().rounds times. A barrier before each of them and
  /// one after the last. One whose round throws rival_failure is left out from then on.
  void hold_rounds(case_result& c);
  /// On rank 0, as results do.
  void conclude(const case_result& c);
  void write() const;
  /// On rank 0: prints a line at once.
  void print(const std::string& line) const;

 private:
  void play(series& who) const;

  const options& o_;
  host_seats seats_;
  const std::unique_ptr<world> job_;
  station at_;
  const std::string backend_;
  results results_;
};

/// What every rank contributes, on rank 0, in the order of ranks; elsewhere nothing. T is trivially
/// copyable.
template <class T>
std::vector<T> collect(session& in, std::span<const T> mine) {
  lane& l = in.at().first_lane();
  std::vector<T> all(in.reports() ? mine.size() * static_cast<std::size_t>(l.ranks()) : 0);
  require(gather(l, mine, std::span(all), 0), "collect results");
  return all;
}

/// Rank 0's value, on every rank.
template <class T>
T agree(session& in, T value) {
  require(broadcast(in.at().first_lane(), std::span(&value, 1), 0), "agree on a number");
  return value;
}

}  // namespace heddle::bench
