// SPDX-License-Identifier: BSD-3-Clause
// simulated_network.h - how long a measurement would take on a fabric, with noise and with faults.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "linktest/diagnose/observation.h"
#include "linktest/diagnose/verdict.h"
#include "linktest/simulate/fabric.h"

namespace heddle::linktest {

/// A part that takes `factor` times as long as it should.
struct simulated_fault {
  culprit what = culprit::node;
  int node = -1, peer = -1;  ///< peer: of link and contention; contention is slow only in a step
  int rail = -1;             ///< of a rail
  std::int64_t cable = -1;   ///< of a link; -1: only what goes from node to peer is slow
  double factor = 2;
};

/// "node=5:2.5,node_tx=7:2,rail=3/1:2,link=1-4:3,link=cable12:3,contention=2-9:4": what, where and
/// how many times as long. Throws error naming the bad item and what is accepted.
[[nodiscard]] std::vector<simulated_fault> parse_simulated_faults(const std::string& text);

/// Who communicates at the same time: the partner of a host in a step, or -1.
using partners_in = std::function<std::int64_t(std::int64_t host, std::int64_t step)>;

/// A model, not a network: a message takes a latency, a bit more per cable, and its bytes' time,
/// longer by a share of what else crosses its busiest cable in the step (routing spreads the rest).
/// Hosts and pairs differ a little for good; each measurement is the median of a few with normal
/// noise and heavy tails. The same seed gives the same times.
class simulated_network {
 public:
  struct how {
    std::uint64_t seed = 1;
    bool one_way = true;  ///< the kernel: uni; else there and back, halved
    int rails = 1;
    std::uint64_t bytes = 128 * 1024;
    int repetitions = 5;  ///< of which the median is taken
  };
  simulated_network(fabric where, how settings, std::vector<simulated_fault> faults,
                    partners_in partners);

  /// What `wanted` takes; its step says whether alone. `attempt` makes the noise another one.
  [[nodiscard]] double seconds(const probe& wanted, std::uint64_t attempt);
  [[nodiscard]] const fabric& where() const noexcept { return fabric_; }

 private:
  [[nodiscard]] double way(int from, int to, int rail, bool loaded) const;
  [[nodiscard]] double fault_factor(int from, int to, int rail, bool loaded) const;
  [[nodiscard]] double congestion(const probe& wanted);
  [[nodiscard]] const std::vector<std::uint8_t>& load_of(std::int64_t step);

  fabric fabric_;
  how settings_;
  std::vector<simulated_fault> faults_;
  partners_in partners_;
  std::map<std::int64_t, std::vector<std::uint8_t>> loads_;  // by step: messages on each cable
};

}  // namespace heddle::linktest
