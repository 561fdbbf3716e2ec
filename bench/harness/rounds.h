// SPDX-License-Identifier: BSD-3-Clause
// rounds.h - the rounds of one benchmark between two ranks, whatever library moves the bytes.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "harness/exchange.h"
#include "harness/laps.h"
#include "harness/pacer.h"
#include "harness/partner.h"

namespace heddle::bench {

/// What the leading rank learned in one round.
struct round_result {
  std::vector<double> figures;  ///< as metrics_of() says
  double p99 = 0;  ///< latency: of single operations of thread 0, in the same sense; 0: unknown
};

/// One rank's side. The initiator leads as many rounds as the target follows.
class rounds {
 public:
  using exchanges = std::vector<std::unique_ptr<exchange>>;

  /// `all`: one per thread. `other` must outlive this.
  rounds(partner& other, const spec& s, exchanges all,
         time_source now = std::chrono::steady_clock::now);
  /// Initiator. Throws std::exception when the other rank is gone; an operation that fails ends
  /// this process, because other threads and the partner would wait for ever.
  round_result lead();
  /// Target.
  void follow();

 private:
  [[nodiscard]] exchange& at(int thread) { return *all_[static_cast<std::size_t>(thread)]; }
  void run(std::uint64_t count, std::vector<double>* stamps);

  partner& other_;
  const spec spec_;
  const exchanges all_;
  const time_source now_;
  pacer pacer_;
};

}  // namespace heddle::bench
