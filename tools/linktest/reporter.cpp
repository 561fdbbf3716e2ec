// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/reporter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <heddle/info.h>

#include <algorithm>
#include <cstdlib>

#include "linktest/draw/summary.h"
#include "linktest/draw/terminal.h"
#include "linktest/job_hosts.h"
#include "linktest/plan/dry_run.h"
#include "linktest/results/introduction.h"
#include "linktest/results/machine_facts.h"
#include "linktest/results/writing.h"
#include "standard_output.h"

namespace heddle::linktest {
namespace {

run_facts facts_of(const options& chosen, const world& job) {
  run_facts facts;
  facts.chosen = chosen;
  facts.version = version();
  facts.command = chosen.typed.empty() ? command_of_process() : chosen.typed;
  facts.environment = settings_made();
  for (rank r = 0; r < job.size(); ++r)
    if (r != job.rank()) facts.routes.push_back(job.route(r));
  facts.hosts = hosts_of(job);
  for (const int group : groups_of(job, chosen.search.groups))
    facts.groups.push_back(chosen.search.groups[static_cast<std::size_t>(group)].name);
  std::sort(facts.routes.begin(), facts.routes.end());
  facts.routes.erase(std::unique(facts.routes.begin(), facts.routes.end()), facts.routes.end());
  return facts;
}

/// For the files, and until they are written what they are made of.
std::uint64_t room_for(const options& chosen, int ranks) {
  const cost expected = cost_of(chosen, ranks);
  return bytes_needed(ranks, expected.ordered_pairs, chosen.sizes.size()) + expected.file_bytes;
}

}  // namespace

double beginning::seconds_ago() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - at).count();
}

reporter::reporter(const options& chosen, const std::string& folder, const world& job,
                   const beginning& began, const std::string& started)
    : began_(began),
      facts_(facts_of(chosen, job)),
      directory_(folder, room_for(chosen, job.size()),
                 chosen.overwrite || !chosen.resume.empty() ? existing::replace : existing::refuse),
      display_(
          chosen.progress, chosen.width, [](std::string_view text) { tools::complain(text); },
          [began] { return began.seconds_ago(); }, chosen.search.time_s) {
  prove_formats(chosen.formats);
  facts_.started = started;
}

void reporter::know(const std::vector<std::string>& introductions) {
  learn(facts_, introductions);
}

bool reporter::greet(const std::vector<std::string>& introductions) {
  know(introductions);
  if (!facts_.chosen.quiet) tools::print(describe_run(facts_));
  const std::string warning = crowding_warning(facts_);
  tools::complain(warning);
  return !warning.empty();
}

void reporter::know(const clock_facts& of_clock, const bare_times& bare) {
  facts_.clock = of_clock;
  facts_.bare = bare;
}

void reporter::update(const progress& p) {
  last_ = p;
  display_.update(p);
}

void reporter::interrupted() {
  display_.finish();
  facts_.interrupted = true;
  const double part = last_.units > 0
                          ? static_cast<double>(last_.units_done) / static_cast<double>(last_.units)
                          : 0.0;
  tools::complain(fmt::format(
      "linktest: interrupted after {:.0f} % ({} of {} turns) and {}; writing what "
      "was measured until then\n",
      100 * part, last_.units_done, last_.units, format_duration(began_.seconds_ago())));
}

void reporter::know(const std::vector<spread>& step_bandwidths,
                    const std::vector<float>& all_to_all_s) {
  facts_.step_bandwidths = step_bandwidths;
  if (!all_to_all_s.empty()) facts_.all_to_all = sketch_of(all_to_all_s);
}

void reporter::know(const findings& found) {
  facts_.slow = found.slow;
  facts_.not_diagnosed = found.not_diagnosed;
  facts_.disturbed = found.disturbed;
  facts_.missed = found.missed;
  if (!found.no_comparison.empty())
    facts_.missed.emplace_back().rule = fmt::format("{}: {}", comparable_rule, found.no_comparison);
}

/// The files come first: whoever reads the output may hold it up.
int reporter::finish(const results& all, const findings& found) {
  display_.finish();
  facts_.ended = utc_now();
  facts_.elapsed_s = began_.seconds_ago();
  std::string where;
  try {
    where = fmt::format("\nResults in {}, measured in {}\n",
                        fmt::join(write_files(directory_, facts_, all), ", "),
                        format_duration(facts_.elapsed_s));
  } catch (...) {
    print_results(all);
    print_findings(found);
    throw;
  }
  print_results(all);
  print_findings(found);
  tools::print(where);
  return status_of(found, verdict_of(all));
}

void reporter::print_findings(const findings& found) const {
  for (const std::string& words : {in_words(found, facts_.hosts), facts_.layers})
    if (!words.empty()) tools::print('\n' + words);
}

void reporter::print_results(const results& all) const {
  const color_depth depth =
      choose_colors(facts_.chosen.color, false, [](const char* name) { return std::getenv(name); });
  if (!facts_.chosen.quiet) tools::print(fmt::format("\n{}\n", pictures(facts_, all, depth)));
  tools::print(figures(facts_, all));
  tools::print(together(facts_));
  tools::print(own_cost(facts_, all));
  for (const std::string& part : {slowest_pairs(facts_, all), failures(facts_, all)})
    if (!part.empty()) tools::print(fmt::format("\n{}", part));
}

}  // namespace heddle::linktest
