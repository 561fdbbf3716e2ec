// SPDX-License-Identifier: BSD-3-Clause
// run_of_sections.h - what the sections of one run have in common: its folder, what is needed to go
// on with it, the list of sections, and what is compared between two.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "linktest/measure/visit_log.h"
#include "linktest/options.h"
#include "linktest/results/layers.h"
#include "linktest/results/results.h"
#include "linktest/results/run_facts.h"
#include "linktest/results/section_list.h"
#include "linktest/results/unfinished.h"
#include "linktest/sections.h"

namespace heddle::linktest {

/// The sections of the whole run, on every rank. All but the first four functions are for the rank
/// that reports.
class run_of_sections {
 public:
  /// `chosen` outlives it.
  explicit run_of_sections(const options& chosen);

  [[nodiscard]] const std::vector<section>& all() const noexcept { return sections_; }
  /// Those that come after one of them.
  [[nodiscard]] std::span<const section> behind(const section& one) const noexcept {
    return {&one + 1, sections_.data() + sections_.size()};
  }
  /// Where a section's files and shards are, of a run in this folder.
  [[nodiscard]] log_place place_of(const section& one, const std::string& folder,
                                   std::uint64_t number) const;

  /// Throws usage_error where a section of this run has no counterpart in the baseline.
  void prove_baselines() const;
  /// The status of a section that an earlier sitting has measured to its end; nothing: it is to be
  /// measured. Throws error where the run cannot be gone on with.
  [[nodiscard]] std::optional<int> measured_before(const section& one);
  /// Where the section's files go, claiming it where need be. Throws error.
  [[nodiscard]] std::string folder_of(const section& one);
  /// When the section's first sitting began, if this one began `now`. UTC.
  [[nodiscard]] std::string first_begun(const section& one, const std::string& now) const;
  /// Tells people which section begins, where there are several.
  void begin(const section& one) const;
  /// From now on the run can be gone on with. Throws error.
  [[nodiscard]] log_place open(const section& one, const run_facts& facts);
  /// In the place of a rank that is lost, which had begun the run in `folder`.
  void take_over(const std::string& folder);
  /// After the section is measured and judged, and before its files are written: after the last
  /// layer with such traffic how all of them compare, in words; else empty, as where one is not
  /// known.
  [[nodiscard]] std::string compare_layers(const section& one, const run_facts& facts,
                                           const results& found);
  /// After the section's files are written. Serial sections are kept to be compared with. Throws
  /// error.
  void end(const section& one, const run_facts& facts, const results& found, section_end how);
  /// After all ranks know that the section is whole: only the files stay of it, and of the run when
  /// it was the last one that was not.
  void close(const section& one);

 private:
  [[nodiscard]] bool several() const noexcept { return sections_.size() > 1; }
  void read_earlier();
  void remember_earlier(const section& one);
  void begin_list();
  [[nodiscard]] bool is_whole(const section& one) const;

  const options& chosen_;
  std::vector<section> sections_;
  unfinished_run run_;                // its number is 0 until it is begun or read
  std::string folder_;                // of the run
  std::optional<section_list> list_;  // where there are several
  std::optional<results> alone_;
  std::map<std::string, layer_findings> over_;  // by section
  std::optional<layer_comparison> compared_;
};

}  // namespace heddle::linktest
