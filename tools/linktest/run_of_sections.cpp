// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/run_of_sections.h"

#include <fmt/format.h>
#include <heddle/status.h>

#include <algorithm>

#include "linktest/results/impact.h"
#include "linktest/results/output.h"
#include "linktest/results/reading.h"
#include "linktest/results/shard.h"
#include "linktest/rules/baseline.h"
#include "standard_output.h"

namespace heddle::linktest {
namespace {

bool has_traffic_of(const options& a, const options& b) {
  return a.kernel == b.kernel && a.op == b.op && a.mode == b.mode;
}

}  // namespace

run_of_sections::run_of_sections(const options& chosen)
    : chosen_(chosen), sections_(sections_of(chosen)) {}

log_place run_of_sections::place_of(const section& one, const std::string& folder,
                                    std::uint64_t number) const {
  return {folder, number, several() ? one.name : std::string{}};
}

void run_of_sections::prove_baselines() const {
  for (const section& one : sections_)
    if (!one.how.search.baseline.empty()) prove_baseline(one.how.search.baseline);
}

void run_of_sections::read_earlier() {
  run_ = read_unfinished(chosen_.resume);
  folder_ = chosen_.resume;
  if (!several()) return;
  list_.emplace(folder_, existing::replace);
  list_->go_on();
}

bool run_of_sections::is_whole(const section& one) const {
  if (!several()) return true;  // as it is this one
  const auto end = list_->end_of(one.name);
  return end && end->whole;
}

/// What later sections are compared with; without it there is no comparison, but all else.
void run_of_sections::remember_earlier(const section& one) {
  const bool alone = chosen_.mode == run_mode::paired && one.how.mode == run_mode::serial;
  if (!alone && chosen_.layers.size() < 2) return;
  try {
    run_record before = read_results(place_of(one, folder_, run_.number).folder());
    const std::string words = compare_layers(one, before.facts, before.all);
    if (!words.empty()) tools::print('\n' + words);
    if (compared_) list_->compare(one.name, *compared_, before.facts);
    if (alone) alone_ = std::move(before.all);
  } catch (const error& why) {
    tools::complain(fmt::format(
        "heddle linktest: no impact will be told, and layers not compared: {}\n", why.what()));
  }
}

std::string run_of_sections::compare_layers(const section& one, const run_facts& facts,
                                            const results& found) {
  compared_.reset();
  if (chosen_.layers.size() < 2 || facts.interrupted) return {};
  over_.insert_or_assign(one.name, findings_over(facts, found));
  std::vector<layer_findings> layers;
  for (const section& each : sections_) {
    if (!has_traffic_of(each.how, one.how)) continue;
    const auto known = over_.find(each.name);
    if (known == over_.end()) return {};
    layers.push_back(known->second);
  }
  compared_ = compare(std::move(layers), facts);
  return in_words(*compared_, facts);
}

std::optional<int> run_of_sections::measured_before(const section& one) {
  if (chosen_.resume.empty()) return std::nullopt;
  if (run_.number == 0) read_earlier();
  if (!several() || !is_whole(one)) return std::nullopt;
  begin(one);
  tools::print(fmt::format("measured before, results in {}\n",
                           place_of(one, folder_, run_.number).folder()));
  remember_earlier(one);
  return list_->end_of(one.name)->status;
}

/// Nobody may take what an earlier run has left there for this one's.
void run_of_sections::begin_list() {
  list_.emplace(chosen_.output, chosen_.overwrite ? existing::replace : existing::refuse);
  if (chosen_.overwrite) list_->forget_earlier();
}

std::string run_of_sections::folder_of(const section& one) {
  if (several()) {
    if (!list_) begin_list();
    folder_ = list_->path();
  } else if (folder_.empty()) {
    folder_ = chosen_.output.empty() ? claim_directory() : chosen_.output;
  }
  return place_of(one, folder_, run_.number).folder();
}

std::string run_of_sections::first_begun(const section& one, const std::string& now) const {
  const bool earlier =
      run_.number != 0 && !shards_in(place_of(one, folder_, run_.number).folder()).empty();
  return earlier ? run_.started : now;
}

void run_of_sections::begin(const section& one) const {
  if (several())
    tools::print(fmt::format("{}=== {} ===\n", &one == sections_.data() ? "" : "\n", one.name));
}

log_place run_of_sections::open(const section& one, const run_facts& facts) {
  if (run_.number == 0) {
    run_ = begin_run(chosen_, static_cast<int>(facts.hosts.size()), facts.command);
    write_unfinished(folder_, run_);
  }
  log_place where = place_of(one, folder_, run_.number);
  if (chosen_.resume.empty()) forget_shards(where.folder());
  return where;
}

void run_of_sections::take_over(const std::string& folder) {
  folder_ = folder;
  if (!several()) return;
  list_.emplace(folder, existing::replace);
  try {
    list_->go_on();
  } catch (const error&) {  // a list that cannot be read is begun anew: results matter more
  }
}

void run_of_sections::end(const section& one, const run_facts& facts, const results& found,
                          section_end how) {
  std::vector<impact> against;
  if (chosen_.mode == run_mode::paired && one.how.mode == run_mode::parallel && alone_)
    against = impact_of(*alone_, found);
  alone_.reset();
  if (one.how.mode == run_mode::serial && chosen_.mode == run_mode::paired) alone_ = found;
  if (!against.empty()) tools::print('\n' + in_words(against, facts.hosts));
  if (list_) list_->add(one.name, facts, found, against, how);
  if (list_ && compared_) list_->compare(one.name, *compared_, facts);
}

void run_of_sections::close(const section& one) {
  forget_shards(place_of(one, folder_, run_.number).folder());
  if (std::all_of(sections_.begin(), sections_.end(),
                  [this](const section& each) { return is_whole(each); }))
    forget_unfinished(folder_);
}

}  // namespace heddle::linktest
