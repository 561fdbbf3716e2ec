// options.cpp - parsing, limits and help of the linktest options.
#include "linktest/options.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <heddle/info.h>
#include <heddle/status.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <ctime>
#include <map>

namespace heddle::linktest {
namespace {

constexpr const char* description =
    "Measure the link between every two ranks of a job and show all of them as a matrix.";

constexpr const char* help_footer = R"(Definitions
  Every pair of ranks is measured once per repetition, in both directions. Entry [r][p] of a
  matrix is what rank r saw when it was the one that started the clock: from before its first
  send until after its last receive. With n = --messages and size in bytes:
    semi  one message goes there and back n times
          time per message = elapsed / 2n     bandwidth = size / time
    bi    two messages go there and back at the same time, n times
          time per message = elapsed / 2n     bandwidth = 2 size / time
    uni   n messages go there back to back, then one receipt comes back
          time per message = elapsed / n      bandwidth = size / time
  An entry is the median over the repetitions; its minimum and maximum are kept too.
  Buffers are prepared and the data is checked outside the timed part.
  Modes: parallel measures all pairs of a step at once (links may share wires); serial measures
  one pair at a time.

Units
  Sizes are bytes; K, M and G mean powers of 1024. Files hold seconds and bytes per second. On the
  screen 1 us = 1e-6 s, and 1 GB/s = 1e9 bytes per second.

Files, in --output DIR
  linktest.h5    one [N x N] dataset per size and metric, units as attributes
  linktest.json  options, hosts, summaries, matrices, slowest pairs

Exit status
  0 all pairs measured        2 wrong or impossible option    4 some pairs could not be measured
  1 could not run or write    3 data arrived corrupted        130 interrupted)";

template <class Enum>
using names = std::map<std::string, Enum>;
const names<run_mode> modes{{"parallel", run_mode::parallel}, {"serial", run_mode::serial}};
const names<kernel> kernels{{"semi", kernel::semi}, {"bi", kernel::bi}, {"uni", kernel::uni}};
const names<color_choice> colors{{"auto", color_choice::automatic},
                                 {"always", color_choice::always},
                                 {"never", color_choice::never}};
const names<progress_choice> progresses{{"auto", progress_choice::automatic},
                                        {"bar", progress_choice::bar},
                                        {"lines", progress_choice::lines},
                                        {"none", progress_choice::none}};

/// Accepts `words` and says which they are, in the help and when refusing.
CLI::Option* accept_words(CLI::Option* option, const std::vector<std::string>& words) {
  return option->check(CLI::Validator(CLI::IsMember(words)).description(""))
      ->type_name(fmt::format("{}", fmt::join(words, "|")));
}

template <class Enum>
const std::string& text_of(const names<Enum>& table, Enum value) {
  return std::find_if(table.begin(), table.end(),
                      [value](const auto& row) { return row.second == value; })
      ->first;
}

/// An option that takes one of the words in `table`.
template <class Enum>
void add_choice(CLI::App& command, const std::string& name, const names<Enum>& table, Enum& into,
                const std::string& help) {
  std::vector<std::string> words;
  for (const auto& [word, value] : table) words.push_back(word);
  const auto set = [&table, &into](const std::string& word) { into = table.at(word); };
  accept_words(command.add_option_function<std::string>(name, set, help), words)
      ->default_str(text_of(table, into));
}

/// A whole number between `least` and `most`.
template <class Number>
void add_number(CLI::App& command, const std::string& name, Number& into, Number least, Number most,
                const std::string& help) {
  const auto parse = [&into, least, most](const std::string& text) -> std::string {
    Number value{};
    const char* end = text.data() + text.size();
    const auto [stop, problem] = std::from_chars(text.data(), end, value);
    if (problem == std::errc{} && stop == end && value >= least && value <= most) {
      into = value;
      return {};
    }
    return fmt::format("'{}' is not accepted; give a whole number from {} to {}", text, least,
                       most);
  };
  command
      .add_option_function<std::string>(
          name, [](const std::string&) {}, help)
      ->check(CLI::Validator(parse, ""))
      ->type_name("N")
      ->default_str(into == 0 && least > 0 ? "" : fmt::format("{}", into));
}

void add_sizes(CLI::App& command, options& into) {
  command
      .add_option_function<std::string>(
          "--sizes", [](const std::string&) {}, "Message sizes in bytes, comma-separated: 8,1K,4M")
      ->check(CLI::Validator(
          [&into](const std::string& text) -> std::string {
            try {
              into.sizes = parse_sizes(text);
              return {};
            } catch (const error& problem) {
              return problem.what();
            }
          },
          ""))
      ->type_name("LIST")
      ->default_str("8,128K");
}

void add_measurement_options(CLI::App& command, options& into) {
  std::vector<std::string> backends = list_backends();
  backends.insert(backends.begin(), "auto");
  accept_words(command.add_option("--backend", into.backend, "Wire that every pair must use"),
               backends)
      ->capture_default_str();
  add_choice(command, "--mode", modes, into.mode, "Pairs of a step at once, or one by one");
  add_choice(command, "--kernel", kernels, into.kernel, "Traffic of a measurement, see below");
  add_sizes(command, into);
  constexpr std::uint64_t many = 1'000'000'000;
  add_number<std::uint64_t>(command, "--messages", into.messages, 1, many,
                            "n: messages per measurement");
  add_number<std::uint64_t>(command, "--warmup", into.warmup, 0, many,
                            "Untimed messages before each measurement");
  add_number<std::uint64_t>(command, "--repetitions", into.repetitions, 1, 1'000'000,
                            "How often every pair is measured");
  add_number<std::uint64_t>(command, "--seed", into.seed, 0, ~std::uint64_t{0},
                            "Of the shuffle and the test data");
  command.add_flag("--shuffle", into.shuffle, "Shuffle ranks and steps, anew in each repetition");
  command
      .add_option("--timeout", into.timeout_s,
                  "Seconds without an answer after which a pair counts as failed")
      ->check(CLI::Validator(CLI::Range(0.1, 86'400.0)).description(""))
      ->type_name("S")
      ->capture_default_str();
}

void add_output_options(CLI::App& command, options& into) {
  add_number<std::uint64_t>(command, "--slowest", into.slowest, 0, 1'000'000,
                            "How many slowest pairs to name per size");
  command.add_option("--output", into.output, "Directory for the result files, made if missing")
      ->type_name("DIR")
      ->default_str("linktest-<date>-<time>");
  add_choice(command, "--color", colors, into.color, "Colours; auto: on a terminal");
  command.add_flag_callback(
      "--no-color", [&into] { into.color = color_choice::never; }, "Same as --color never");
  command.add_flag("--quiet", into.quiet, "Print only errors, the summary and the files' paths");
  add_choice(command, "--progress", progresses, into.progress,
             "On standard error; auto: a bar on a terminal, else a few lines");
  add_number<int>(command, "--width", into.width, 0, 10'000, "Columns to draw in; 0: ask");
}

}  // namespace

const char* name_of(run_mode mode) noexcept {
  return mode == run_mode::serial ? "serial" : "parallel";
}

std::uint64_t parse_size(const std::string& text) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  auto [stop, problem] = std::from_chars(text.data(), end, value);
  unsigned shift = 0;
  if (stop != end && stop + 1 == end) {
    const std::size_t at = std::string_view("KMGkmg").find(*stop);
    if (at != std::string_view::npos) {
      shift = 10 * (static_cast<unsigned>(at % 3) + 1);
      ++stop;
    }
  }
  if (problem != std::errc{} || stop != end || value == 0 || value > max_message_bytes >> shift)
    throw error(
        fmt::format("'{}' is not a message size; give 1 to 1G, such as 8, 1K or 4M "
                    "(K, M, G: powers of 1024)",
                    text));
  return value << shift;
}

std::vector<std::uint64_t> parse_sizes(const std::string& text) {
  std::vector<std::uint64_t> sizes;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    sizes.push_back(parse_size(text.substr(from, comma - from)));
    from = comma + 1;
  }
  std::sort(sizes.begin(), sizes.end());
  if (const auto twice = std::adjacent_find(sizes.begin(), sizes.end()); twice != sizes.end())
    throw error(fmt::format("the size {} is given twice; give each size once", *twice));
  return sizes;
}

std::string default_output() {
  return fmt::format("linktest-{:%Y%m%d-%H%M%S}", fmt::localtime(std::time(nullptr)));
}

void declare_options(CLI::App& command, options& into) {
  command.description(description);
  command.footer(help_footer);
  add_number<int>(command, "-n,--ranks", into.ranks, 2, max_ranks,
                  "Ranks to start, here or on --hosts; leave out inside a job");
  add_measurement_options(command, into);
  add_output_options(command, into);
}

std::vector<std::string> to_arguments(const options& chosen) {
  std::vector<std::string> out{"linktest"};
  const auto add = [&out](const char* name, const auto& value) {
    out.emplace_back(name);
    out.push_back(fmt::format("{}", value));
  };
  add("--ranks", chosen.ranks);
  add("--backend", chosen.backend);
  add("--mode", text_of(modes, chosen.mode));
  add("--kernel", text_of(kernels, chosen.kernel));
  add("--sizes", fmt::format("{}", fmt::join(chosen.sizes, ",")));
  add("--messages", chosen.messages);
  add("--warmup", chosen.warmup);
  add("--repetitions", chosen.repetitions);
  add("--seed", chosen.seed);
  add("--timeout", chosen.timeout_s);
  add("--slowest", chosen.slowest);
  add("--output", chosen.output);
  add("--color", text_of(colors, chosen.color));
  add("--progress", text_of(progresses, chosen.progress));
  add("--width", chosen.width);
  if (chosen.shuffle) out.emplace_back("--shuffle");
  if (chosen.quiet) out.emplace_back("--quiet");
  return out;
}

}  // namespace heddle::linktest
