// SPDX-License-Identifier: BSD-3-Clause
// options.h - the command line of `heddle linktest`: its values, their limits and their help.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "exit_status.h"
#include "linktest/plan/halves.h"
#include "linktest/results/metrics.h"
#include "linktest/search_options.h"

namespace CLI {  // NOLINT: not our name
class App;
}

namespace heddle::linktest {

enum class run_mode : std::uint8_t {
  parallel,  ///< all pairs of a step at the same time
  serial,    ///< one pair at a time, everybody else silent
  paired,    ///< serial, and then parallel: what the others' traffic costs each pair
};
enum class color_choice : std::uint8_t { automatic, always, never };
enum class progress_choice : std::uint8_t { automatic, bar, lines, none };

using tools::exit_status;
using enum tools::exit_status;

struct options {
  int ranks = 0;                                                  ///< 0: not given
  std::vector<std::string> layers{"auto"};                        ///< by name, each once
  std::vector<linktest::kernel> kernels{linktest::kernel::semi};  ///< each once
  std::vector<operation> ops{operation::send};                    ///< each once
  std::string layer = "auto";  ///< of this section, as the next two: layer.h
  linktest::kernel kernel = linktest::kernel::semi;
  operation op = operation::send;
  run_mode mode = run_mode::parallel;
  std::vector<std::uint64_t> sizes{8, 128 * 1024};  ///< bytes, ascending, each once
  std::uint64_t messages = 100;
  std::uint64_t window = 64;  ///< messages of kernel uni in flight, 1 to most_in_flight
  std::uint64_t buffers = 1;  ///< of which each visit takes one, by the seed
  std::uint64_t warmup = 10;
  int warming_turns = 16;               ///< of a visit, each of `warmup` messages, at most
  std::uint64_t repetitions = 3;        ///< visits of every pair
  std::uint64_t most_repetitions = 50;  ///< measurements of a pair, at least `repetitions`
  double interval_percent = 2;          ///< wanted half width of the median's confidence interval
  double budget_ms = 50;                ///< of one pair, size and visit
  std::uint64_t singles = 100;          ///< messages timed one by one, if the budget lasts
  bool check = true;                    ///< whether the bytes that arrive are looked at
  std::uint64_t drift = 0;              ///< steps that ranks may be apart in mode parallel
  std::uint64_t seed = 1;
  bool shuffle = false;
  bool all_to_all = false;  ///< all ranks with all, between steps
  halves_choice halves;
  std::uint64_t slowest = 5;
  double timeout_s = 60;
  std::string output;  ///< empty: a new "linktest-<date>-<time>" in the current directory
  bool overwrite = false;
  std::string resume;  ///< the folder of an unfinished run to go on with; empty: a new run
  std::vector<std::string> formats{"h5", "json"};  ///< each once, of file_formats()
  int sion_files = 0;                              ///< of each set; 0: none are written
  std::string typed;  ///< the command that started the job, for the files; empty: this one
  color_choice color = color_choice::automatic;
  bool quiet = false;
  progress_choice progress = progress_choice::automatic;
  int width = 0;  ///< terminal columns; 0: ask the terminal
  search_options search;

  /// Kernel uni moves data one way: with get to the side that has the clock.
  [[nodiscard]] bool initiator_receives() const noexcept {
    return kernel == linktest::kernel::uni && op == operation::get;
  }
  /// Singles come in groups, between which the initiator looks whether its budget has passed.
  [[nodiscard]] std::uint64_t singles_at_once() const noexcept {
    return singles < messages ? singles : messages;
  }
};

inline constexpr std::uint64_t most_in_flight = 1024, most_buffers = 1024;
inline constexpr std::uint64_t max_message_bytes = std::uint64_t{1} << 30;
inline constexpr int max_ranks = 1'000'000;        ///< that the launcher starts
inline constexpr int max_planned = 1'000'000'000;  ///< for --dry-run and --simulate

[[nodiscard]] const char* name_of(run_mode mode) noexcept;

/// "8", "1K", "128k", "4M", "1G" -> bytes. Throws error naming the text and what is accepted.
[[nodiscard]] std::uint64_t parse_size(const std::string& text);
/// "1K,128K" -> sorted, without duplicates. Throws error.
[[nodiscard]] std::vector<std::uint64_t> parse_sizes(const std::string& text);
/// What results can be written as; also the ends of their files' names.
[[nodiscard]] const std::vector<std::string>& file_formats();

/// Declares all options and the help text on `command`; parsing fills `into`, which must outlive
/// it. Wrong values end the parse with a message that says what is accepted.
void declare_options(CLI::App& command, options& into);

/// The arguments after the program's name that make `heddle` run with exactly these options, for
/// the ranks of a job it starts.
[[nodiscard]] std::vector<std::string> to_arguments(const options& chosen);

}  // namespace heddle::linktest
