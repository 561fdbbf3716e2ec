// SPDX-License-Identifier: BSD-3-Clause
// simulated_run.h - a whole link test on a simulated network: sample, diagnose, retest.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "linktest/diagnose/diagnose.h"
#include "linktest/plan/plan.h"
#include "linktest/simulate/simulated_network.h"

namespace heddle::linktest {

class simulated_run {
 public:
  /// `sample` matchings of the hosts, or plan::all_steps.
  simulated_run(fabric where, const simulated_network::how& settings,
                std::vector<simulated_fault> faults, std::uint64_t sample);

  /// By what real ranks are judged, with this factor of --slow; without it, more finely.
  void judge_by(double slow) noexcept { slow_ = slow; }
  /// Every turn of the plan, once for each rail: 24 bytes each.
  [[nodiscard]] std::vector<observation> measure();
  /// From `seen`, with retests.
  [[nodiscard]] diagnosis diagnose(const std::vector<observation>& seen);
  /// measure() and diagnose().
  [[nodiscard]] diagnosis run() { return diagnose(measure()); }
  [[nodiscard]] const plan& steps() const noexcept { return plan_; }

 private:
  [[nodiscard]] surroundings around() const;

  simulated_network::how settings_;
  std::optional<double> slow_;
  plan plan_;
  simulated_network network_;
};

}  // namespace heddle::linktest
