// SPDX-License-Identifier: BSD-3-Clause
// progress.h - how far a run is and how long it will still take: a bar, or a few lines of a log.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "linktest/measure/measure.h"

namespace heddle::linktest {

/// Seconds for people: "0.4 s", "12 s", "3 min 20 s", "2 h 5 min".
[[nodiscard]] std::string format_duration(double seconds);

/// One line without its end: bar, percentage, step and expected remaining time. `budget_s`: when
/// the run ends in any case; 0: when all is measured.
[[nodiscard]] std::string bar_line(const progress& p, double elapsed_s, int width,
                                   double budget_s = 0);

/// Shows progress on one rank. As a bar: redrawn at most ten times a second, erased by finish().
/// As lines: at every tenth of the work, but none in the first two seconds or within two of
/// another.
class progress_display {
 public:
  using sink = std::function<void(std::string_view)>;
  using clock = std::function<double()>;  ///< seconds, from any start

  /// `budget_s` counts from here; 0: there is none.
  progress_display(progress_choice how, int width, sink out, clock now, double budget_s = 0);
  void update(const progress& p);
  void finish();

 private:
  void redraw_bar(const progress& p, double now);
  void add_line(const progress& p, double now);

  progress_choice how_;
  int width_;
  sink out_;
  clock now_;
  double began_;
  double budget_s_;
  double last_drawn_ = -1;
  std::uint64_t tenths_told_ = 0;
  bool on_screen_ = false;
};

}  // namespace heddle::linktest
