// SPDX-License-Identifier: BSD-3-Clause
// measure.h - the run itself: every turn of the plan on this rank, and the rows' way to rank 0.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "linktest/measure/clock_cost.h"
#include "linktest/measure/encounter.h"
#include "linktest/measure/meeting.h"
#include "linktest/measure/visit_log.h"
#include "linktest/options.h"
#include "linktest/plan/plan.h"
#include "linktest/results/results.h"

namespace heddle::linktest {

/// How far a run has come; a unit is one phase of one step of one repetition.
struct progress {
  std::uint64_t units_done, units;
  std::int64_t step, steps;  ///< step counts from 1
  std::uint64_t repetition, repetitions;
};

struct observer {
  std::function<void(const progress&)> on_unit;  ///< after every unit
  std::function<bool()> stop_wanted;             ///< asked before every unit
};

struct run_result {
  row measured;
  std::uint64_t units_done = 0;
  bool stopped = false;               ///< all ranks agreed to stop before the end
  std::vector<float> all_to_all_s{};  ///< seconds, as this rank saw each that was wanted
};

/// Collective. Never waits for a lost peer; marks what could not be measured and goes on. What
/// `log` knows from earlier sittings is not measured again; what is measured is kept in it.
[[nodiscard]] run_result measure(meeting& ranks, const options& how, const message_memory& memory,
                                 const clock_facts& clock, const observer& watch, visit_log& log);

/// Where the rows are after gathering.
struct gathered {
  enum class place : std::uint8_t {
    here,       ///< in `all`: this rank is the one to report
    elsewhere,  ///< delivered to the rank that reports
    nowhere     ///< that rank could not be reached
  } rows;
  rank recorder;  ///< who reports
  int heard = 0;  ///< rows of other ranks that have come here
};

/// Collective. The recorder, which is rank 0 unless that was lost, puts everybody's row into `all`;
/// of a rank that cannot be reached all pairs that `steps` has for it are marked lost.
[[nodiscard]] gathered gather_rows(meeting& ranks, const row& mine, const plan& steps,
                                   results& all);

}  // namespace heddle::linktest
