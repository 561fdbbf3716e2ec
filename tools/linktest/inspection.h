// SPDX-License-Identifier: BSD-3-Clause
// inspection.h - after a run: what is slow, which rules are missed, and the exit status of that.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "linktest/diagnose/of_results.h"
#include "linktest/rules/baseline.h"

namespace heddle::linktest {

/// What was found out about a run's results.
struct findings {
  std::string disturbed;      ///< who was kept from a core, and is left out; empty: nobody
  std::string not_diagnosed;  ///< why slow parts were not looked for; empty: they were, or unwanted
  std::optional<diagnosis> slow;    ///< none: not looked for
  std::vector<broken_rule> missed;  ///< of --expect and --baseline
  std::string no_comparison;  ///< why the baseline was not compared with; empty: it was, or none

  /// What was found slow is not said after all.
  void withdraw_diagnosis(std::string_view why) {
    if (slow) not_diagnosed = why;
    slow.reset();
  }
};

/// Holds results against what the options ask for.
class inspection {
 public:
  /// Reads the baseline. Throws error naming what is wrong with it or with a rule.
  explicit inspection(const options& chosen);

  /// `crowded`: ranks share cores; `kept`: by rank, which part of
  /// its time it was kept from its core, empty where that is not known; `again` as in
  /// diagnose_results(). Who was kept from a core is left out of the diagnosis, unless it is to be
  /// made always.
  [[nodiscard]] findings inspect(const results& all, const run_setting& run, bool crowded,
                                 const std::vector<double>& kept, const sized_prober& again) const;

 private:
  void look_for_slow_parts(const results& all, run_setting run, const std::vector<double>& kept,
                           const sized_prober& again, findings& out) const;

  const options& chosen_;
  std::optional<baseline> before_;
  std::vector<rule> rules_;
};

/// What to tell people, with the ranks' hosts.
[[nodiscard]] std::string in_words(const findings& found, const std::vector<std::string>& hosts);
/// `measured` where it says that something failed; else 5 for a slow part and 6 for a rule or
/// baseline that is missed, the first if both.
[[nodiscard]] exit_status status_of(const findings& found, exit_status measured) noexcept;

}  // namespace heddle::linktest
