// SPDX-License-Identifier: BSD-3-Clause
// retest.h - measuring single pairs once more, on demand of the rank that reports.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "linktest/diagnose/observation.h"
#include "linktest/measure/measure.h"
#include "linktest/plan/plan.h"

namespace heddle::linktest {

/// All ranks hold one after a run; the recorder asks, all others serve, and both sides measure.
/// A probe alone is measured while everybody else waits; one with a step while all pairs of that
/// step are. Lost peers make a probe fail, and nobody waits for them.
class retest {
 public:
  /// All outlive it. `recorder` asks.
  /// Before each probe, `stop_wanted` of any rank ends what is asked: a probe over a slow link
  /// takes seconds, and there may be hundreds.
  retest(meeting& ranks, const options& how, const message_memory& memory, const plan& steps,
         rank recorder, std::function<bool()> stop_wanted)
      : ranks_(ranks),
        how_(how),
        memory_(memory),
        plan_(steps),
        recorder_(recorder),
        stop_wanted_(std::move(stop_wanted)) {}

  /// Recorder only. Seconds per message in the order of the probes, NaN where it failed; each the
  /// median of some turns with messages of `bytes`. A probe also fails when one of the two was kept
  /// from its core meanwhile, unless --diagnosis always asks for it all the same.
  [[nodiscard]] std::vector<float> ask(std::span<const probe> wanted, std::uint64_t bytes);
  /// Whether somebody wanted it to, so that the rest of the probes was left out.
  [[nodiscard]] bool stopped() const noexcept { return stopped_; }
  /// Recorder only, once, last: serve() returns on all other ranks.
  void end();
  /// All other ranks.
  void serve();

 private:
  struct order {
    std::uint64_t probes, bytes;
  };
  void announce(order what, std::span<const probe> wanted);
  std::vector<float> carry_out(std::span<const probe> wanted, std::uint64_t bytes);
  float turn(const probe& what, std::uint64_t bytes);
  float measure_with(rank peer, bool initiator, std::uint64_t bytes);
  bool is_disturbed(rank peer, double share);
  status once(rank peer, bool initiator, std::uint64_t bytes, std::uint64_t messages,
              double& elapsed_s);

  meeting& ranks_;
  const options& how_;
  const message_memory& memory_;
  const plan& plan_;
  rank recorder_;
  std::function<bool()> stop_wanted_;
  bool stopped_ = false;
  std::uint64_t number_ = 0;  // of turns; the same on all ranks
};

}  // namespace heddle::linktest
