// round.h - one round of Heddle's side of a benchmark, on all threads of this rank.
#pragma once
#include <vector>

#include "bench/exchange.h"
#include "bench/pacer.h"

namespace heddle::bench {

/// What the initiating rank learned in one round.
struct round_result {
  double seconds_per_op = 0;   ///< latency: as metric_of() says; rate, bandwidth: all threads' ops
  std::vector<double> stamps;  ///< latency: of single operations of thread 0, in the same sense
};

/// The rounds of one spec between two partners. Collective between them.
class rounds {
 public:
  rounds(station& at, const spec& s, bool crowded);
  /// At the target an empty result.
  round_result next();

 private:
  round_result initiate();
  void respond();

  station& at_;
  spec spec_;
  equipment gear_;
  std::vector<std::unique_ptr<exchange>> exchanges_;  // one per thread
  pacer pacer_;
};

}  // namespace heddle::bench
