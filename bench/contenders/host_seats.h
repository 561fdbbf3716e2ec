// SPDX-License-Identifier: BSD-3-Clause
// host_seats.h - on which cores the ranks of this host measure.
#pragma once
#include <heddle/world.h>

#include <cstddef>
#include <vector>

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

}  // namespace heddle::bench
