// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/impossible_option.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "linktest/job_hosts.h"
#include "linktest/layer.h"
#include "linktest/plan/dry_run.h"
#include "linktest/results/pair_class.h"
#include "linktest/results/results.h"
#include "linktest/rules/rule.h"

namespace heddle::linktest {
namespace {

std::uint64_t memory_here() {
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

/// A host without a group, or a rule for groups that nobody has told; empty: neither.
std::string wrong_groups(const search_options& chosen, const world& job) {
  const std::vector<int> group_of = groups_of(job, chosen.groups);
  const auto lost = std::find(group_of.begin(), group_of.end(), -1);
  if (lost != group_of.end()) {
    const auto r = static_cast<rank>(lost - group_of.begin());
    return fmt::format(
        "--groups: rank {} runs on host '{}', which the file puts in no group: add that name to a "
        "line of it",
        r, job.host(r));
  }
  for (const std::string& text : chosen.expect)
    if (chosen.groups.empty() && parse_rule(text).among == std::vector{pair_class::group})
      return fmt::format("--expect '{}' is for pairs in one group: give --groups FILE", text);
  return {};
}

}  // namespace

std::string impossible_option(const options& chosen, const world& job) {
  const bool first = job.rank() == 0;
  if (first && chosen.ranks != 0 && chosen.ranks != job.size())
    return chosen.resume.empty()
               ? fmt::format("-n {} disagrees with this job of {} ranks: leave out -n",
                             chosen.ranks, job.size())
               : fmt::format("--resume {}: that run has {} ranks, and this job {}: start as many",
                             chosen.resume, chosen.ranks, job.size());
  if (first && job.size() < 2) return "a link has two ends: start at least 2 ranks";
  if (first && chosen.sion_files > 0 && job.size() > most_ranks_of_matrices)
    return fmt::format(
        "--sion writes LinkTest 1.x's files, with a value for every two ranks, for up to {} ranks: "
        "leave it out for {}",
        most_ranks_of_matrices, job.size());
  if (std::string why = first ? wrong_groups(chosen.search, job) : ""; !why.empty()) return why;
  if (std::string why = halves::problem_with(chosen.halves, job.size());
      first && chosen.halves.what != halves_choice::how::none && !why.empty())
    return why;
  if (std::string why = first ? lacking_memory(chosen, job.size(), memory_here()) : "";
      !why.empty())
    return why;
  if (chosen.layer == "auto") return {};
  for (rank r = 0; r < job.size(); ++r) {
    if (r == job.rank() || is_over(job.route(r), layer_named(chosen.layer))) continue;
    return fmt::format("--layers {} cannot be honoured: rank {} ({}) reaches rank {} ({}) over {}",
                       chosen.layer, job.rank(), job.host(job.rank()), r, job.host(r),
                       job.route(r));
  }
  return {};
}

}  // namespace heddle::linktest
