// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/run_of_sections.h"

#include <fmt/format.h>

#include "linktest/results/impact.h"
#include "linktest/results/output.h"
#include "standard_output.h"

namespace heddle::linktest {

run_of_sections::run_of_sections(const options& chosen)
    : chosen_(chosen), sections_(sections_of(chosen)) {}

std::string run_of_sections::folder_of(const section& one) {
  if (sections_.size() == 1) return one.how.output.empty() ? claim_directory() : one.how.output;
  if (!list_)
    list_.emplace(chosen_.output, chosen_.overwrite ? existing::replace : existing::refuse);
  return list_->folder_of(one.name);
}

void run_of_sections::begin(const section& one) const {
  if (sections_.size() > 1)
    tools::print(fmt::format("{}=== {} ===\n", &one == sections_.data() ? "" : "\n", one.name));
}

void run_of_sections::end(const section& one, const run_facts& facts, const results& found) {
  std::vector<impact> against;
  if (chosen_.mode == run_mode::paired && one.how.mode == run_mode::parallel && alone_)
    against = impact_of(*alone_, found);
  alone_.reset();
  if (one.how.mode == run_mode::serial && chosen_.mode == run_mode::paired) alone_ = found;
  if (!against.empty()) tools::print('\n' + in_words(against, facts.hosts));
  if (list_) list_->add(one.name, facts, found, against);
}

}  // namespace heddle::linktest
