// SPDX-License-Identifier: BSD-3-Clause
// section_list.h - the folder of a run of several sections, and the file that names them.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "linktest/results/impact.h"
#include "linktest/results/layers.h"
#include "linktest/results/output.h"

namespace heddle::linktest {

inline constexpr const char* section_file = "linktest.sections.json";

/// How a section ended.
struct section_end {
  bool whole = false;  ///< all of it is measured and written: nothing is left to go on with
  int status = 0;      ///< that of a run of this section alone
};

/// On the rank that reports. Each section has a folder of its own in the run's.
class section_list {
 public:
  /// Claims the folder for the run, a new one where `path` is empty. Throws error as
  /// output_directory does.
  section_list(std::string path, existing what);

  /// Keeps what is listed there already: by an earlier sitting of this run, or by a rank that is
  /// lost. Throws error when that is no list of sections.
  void go_on();

  /// Removes the list that an earlier run has left there, and the result files of its sections.
  void forget_earlier();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// How a section ended that is listed.
  [[nodiscard]] std::optional<section_end> end_of(const std::string& section) const;
  /// Lists a section that has its files, in the place of what was said of it before, and writes
  /// the list anew. `against` is the serial section that this parallel one is compared with, where
  /// there is one. Throws error.
  void add(const std::string& section, const run_facts& facts, const results& all,
           const std::vector<impact>& against, section_end how);
  /// Adds the comparison to what is said of a section that is listed, the last of its layers, which
  /// has such `facts`, and writes the list anew. Throws error.
  void compare(const std::string& section, const layer_comparison& found, const run_facts& facts);

 private:
  void write();

  std::string path_;
  output_directory into_;
  std::string document_;  // the file's content; empty: none is listed
};

/// The names of the sections in a folder; empty: it is none of a run with several.
[[nodiscard]] std::vector<std::string> sections_in(const std::string& folder);

}  // namespace heddle::linktest
