// SPDX-License-Identifier: BSD-3-Clause
// inspection.cpp - diagnosis, rules and baseline, one after the other.
#include "linktest/inspection.h"

#include <fmt/format.h>

#include "linktest/measure/core_wait.h"

namespace heddle::linktest {
namespace {

constexpr double baseline_tolerance = 0.05;  // beside both intervals
constexpr std::size_t most_named = 8;        // of ranks that were kept from a core

}  // namespace

inspection::inspection(const options& chosen) : chosen_(chosen) {
  if (!chosen.search.baseline.empty()) before_ = read_baseline(chosen.search.baseline);
  for (const std::string& text : chosen.search.expect) rules_.push_back(parse_rule(text));
}

/// Times of ranks that wait for a core are the scheduler's.
void inspection::look_for_slow_parts(const results& all, run_setting run,
                                     const std::vector<double>& kept, const sized_prober& again,
                                     findings& out) const {
  if (chosen_.search.diagnose == diagnosis_choice::automatic) {
    for (std::size_t r = 0; r < kept.size(); ++r) {
      if (kept[r] <= disturbing_wait) continue;
      run.left_out.insert(static_cast<int>(r));
      if (run.left_out.size() <= most_named)
        out.disturbed += fmt::format("{}rank {} ({}) {:.0f} %", out.disturbed.empty() ? "" : ", ",
                                     r, run.facts.hosts[r], 100 * kept[r]);
    }
    if (run.left_out.size() > most_named)
      out.disturbed += fmt::format(", and {} more", run.left_out.size() - most_named);
    if (2 * run.left_out.size() > kept.size()) {
      out.not_diagnosed =
          "most ranks waited for a core that others had; --diagnosis always looks nevertheless";
      return;
    }
  }
  out.slow = diagnose_results(all, run, again);
}

findings inspection::inspect(const results& all, const run_setting& run, bool crowded,
                             const std::vector<double>& kept, const sized_prober& again) const {
  findings out;
  const diagnosis_choice wanted = chosen_.search.diagnose;
  if (wanted == diagnosis_choice::automatic && crowded)
    out.not_diagnosed = "ranks share cores; --diagnosis always looks nevertheless";
  else if (wanted != diagnosis_choice::never)
    look_for_slow_parts(all, run, kept, again, out);
  if (before_) out.no_comparison = incomparable(*before_, all, run.facts);
  const bool comparable = before_ && out.no_comparison.empty();
  if (before_ && !comparable) return out;
  out.missed = check_rules(rules_, {all, run.facts}, comparable ? &before_->all : nullptr);
  if (!comparable) return out;
  for (broken_rule& slower : slower_than(*before_, all, baseline_tolerance))
    out.missed.push_back(std::move(slower));
  return out;
}

std::string in_words(const findings& found, const std::vector<std::string>& hosts) {
  std::string out;
  if (!found.disturbed.empty())
    out += fmt::format(
        "Waited for a core that others had, for part of the time, and are not judged: {}\n",
        found.disturbed);
  if (found.slow) out += "Diagnosis\n" + in_words(*found.slow, names_of_ranks(hosts));
  if (!found.not_diagnosed.empty())
    out += fmt::format("Slow nodes and links were not looked for: {}\n", found.not_diagnosed);
  for (const broken_rule& missed : found.missed) out += in_words(missed, names_of_ranks(hosts));
  if (!found.no_comparison.empty())
    out += fmt::format("Not compared with the baseline, and no rule was checked: {}\n",
                       found.no_comparison);
  return out;
}

exit_status status_of(const findings& found, exit_status measured) noexcept {
  if (measured != success) return measured;
  if (found.slow && found_slow_part(*found.slow)) return slow_part;
  return found.missed.empty() && found.no_comparison.empty() ? success : rule_missed;
}

}  // namespace heddle::linktest
