// SPDX-License-Identifier: BSD-3-Clause
// run_of_sections.h - what the sections of one run have in common: the list of them, and what is
// compared between two.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "linktest/options.h"
#include "linktest/results/results.h"
#include "linktest/results/run_facts.h"
#include "linktest/results/section_list.h"
#include "linktest/sections.h"

namespace heddle::linktest {

/// The sections of the whole run, on every rank; only the one that reports keeps anything.
class run_of_sections {
 public:
  /// `chosen` outlives it.
  explicit run_of_sections(const options& chosen);

  [[nodiscard]] const std::vector<section>& all() const noexcept { return sections_; }
  /// Those that come after one of them.
  [[nodiscard]] std::span<const section> behind(const section& one) const noexcept {
    return {&one + 1, sections_.data() + sections_.size()};
  }
  /// Where the section's files go, claiming it where need be. Throws error.
  [[nodiscard]] std::string folder_of(const section& one);
  /// Tells people which section begins, where there are several.
  void begin(const section& one) const;
  /// After the section's files are written. Serial sections are kept to be compared with.
  void end(const section& one, const run_facts& facts, const results& found);

 private:
  const options& chosen_;
  std::vector<section> sections_;
  std::optional<section_list> list_;
  std::optional<results> alone_;
};

}  // namespace heddle::linktest
