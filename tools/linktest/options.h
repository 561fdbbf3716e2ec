// options.h - the command line of `heddle linktest`: its values, their limits and their help.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "exit_status.h"
#include "linktest/metrics.h"

namespace CLI {  // NOLINT: not our name
class App;
}

namespace heddle::linktest {

enum class run_mode : std::uint8_t {
  parallel,  ///< all pairs of a step at the same time
  serial,    ///< one pair at a time, everybody else silent
};
enum class color_choice : std::uint8_t { automatic, always, never };
enum class progress_choice : std::uint8_t { automatic, bar, lines, none };

using tools::exit_status;
using enum tools::exit_status;

struct options {
  int ranks = 0;  ///< 0: not given
  std::string backend = "auto";
  run_mode mode = run_mode::parallel;
  linktest::kernel kernel = kernel::semi;
  std::vector<std::uint64_t> sizes{8, 128 * 1024};  ///< bytes, ascending, each once
  std::uint64_t messages = 100;
  std::uint64_t warmup = 10;
  std::uint64_t repetitions = 3;
  std::uint64_t seed = 1;
  bool shuffle = false;
  std::uint64_t slowest = 5;
  double timeout_s = 60;
  std::string output;  ///< empty: "linktest-<date>-<time>" in the current directory
  color_choice color = color_choice::automatic;
  bool quiet = false;
  progress_choice progress = progress_choice::automatic;
  int width = 0;  ///< terminal columns; 0: ask the terminal
};

inline constexpr std::uint64_t max_message_bytes = std::uint64_t{1} << 30;
inline constexpr int max_ranks = 1'000'000;  ///< that the launcher starts

[[nodiscard]] const char* name_of(run_mode mode) noexcept;

/// "8", "1K", "128k", "4M", "1G" -> bytes. Throws error naming the text and what is accepted.
[[nodiscard]] std::uint64_t parse_size(const std::string& text);
/// "1K,128K" -> sorted, without duplicates. Throws error.
[[nodiscard]] std::vector<std::uint64_t> parse_sizes(const std::string& text);
/// "linktest-20250131-235959" for the local time now.
[[nodiscard]] std::string default_output();

/// Declares all options and the help text on `command`; parsing fills `into`, which must outlive
/// it. Wrong values end the parse with a message that says what is accepted.
void declare_options(CLI::App& command, options& into);

/// The arguments after the program's name that make `heddle` run with exactly these options, for
/// the ranks of a job it starts.
[[nodiscard]] std::vector<std::string> to_arguments(const options& chosen);

}  // namespace heddle::linktest
