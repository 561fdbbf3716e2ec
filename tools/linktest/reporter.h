// SPDX-License-Identifier: BSD-3-Clause
// reporter.h - what is told to people and files of one section of a run.
#pragma once
#include <heddle/world.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "linktest/draw/progress.h"
#include "linktest/inspection.h"
#include "linktest/measure/bare.h"
#include "linktest/measure/clock_cost.h"
#include "linktest/measure/measure.h"
#include "linktest/results/output.h"
#include "linktest/results/run_facts.h"

namespace heddle::linktest {

/// When a section began.
struct beginning {
  std::chrono::steady_clock::time_point at = std::chrono::steady_clock::now();
  std::string utc = utc_now();

  [[nodiscard]] double seconds_ago() const;
};

/// One rank's side of talking to people and files: rank 0's, or when that is lost its successor's.
class reporter {
 public:
  /// Claims `folder` for the results of a section that was first `started`, in this sitting or
  /// before. Throws error.
  reporter(const options& chosen, const std::string& folder, const world& job,
           const beginning& began, const std::string& started);

  /// What the ranks tell of themselves, by rank.
  void know(const std::vector<std::string>& introductions);
  /// The same, and tells it. Returns whether ranks share cores somewhere, of which people are
  /// warned.
  bool greet(const std::vector<std::string>& introductions);
  void know(const clock_facts& of_clock, const bare_times& bare);
  void know(const findings& found);
  /// How the layers of the run compare, in words.
  void know(std::string of_layers) { facts_.layers = std::move(of_layers); }
  void know(const std::vector<spread>& step_bandwidths, const std::vector<float>& all_to_all_s);
  void update(const progress& p);
  /// Says so; what was measured until then is still to be reported by finish().
  void interrupted();
  /// Writes the files, then tells people, after all else is known. Returns the exit status.
  int finish(const results& all, const findings& found);

  [[nodiscard]] const std::string& folder() const noexcept { return directory_.path(); }
  [[nodiscard]] const run_facts& facts() const noexcept { return facts_; }

 private:
  void print_results(const results& all) const;
  void print_findings(const findings& found) const;

  beginning began_;
  run_facts facts_;
  output_directory directory_;
  progress_display display_;
  progress last_{};
};

}  // namespace heddle::linktest
