// SPDX-License-Identifier: BSD-3-Clause
// section_list.h - the folder of a run of several sections, and the file that names them.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "linktest/results/impact.h"
#include "linktest/results/output.h"

namespace heddle::linktest {

inline constexpr const char* section_file = "linktest.sections.json";

/// On the rank that reports. Each section has a folder of its own in the run's.
class section_list {
 public:
  /// Claims the folder for the run, a new one where `path` is empty. Throws error as
  /// output_directory does.
  section_list(std::string path, existing what);

  /// Where a section's files go.
  [[nodiscard]] std::string folder_of(const std::string& section) const;
  /// Adds a section that has its files, and writes the list anew. `against` is the serial section
  /// that this parallel one is compared with, where there is one. Throws error.
  void add(const std::string& section, const run_facts& facts, const results& all,
           const std::vector<impact>& against);

 private:
  struct entry {
    std::string name;
    run_facts facts;
    bool complete;
    std::vector<impact> against;
  };
  [[nodiscard]] std::string text() const;

  std::string path_;
  output_directory into_;
  std::vector<entry> entries_;
};

/// The names of the sections in a folder; empty: it is none of a run with several.
[[nodiscard]] std::vector<std::string> sections_in(const std::string& folder);

}  // namespace heddle::linktest
