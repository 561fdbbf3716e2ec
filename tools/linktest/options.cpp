// SPDX-License-Identifier: BSD-3-Clause
// options.cpp - parsing, limits and help of the linktest options.
#include "linktest/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <heddle/info.h>
#include <heddle/status.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <map>

#include "linktest/checked_by.h"
#include "linktest/layer.h"

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
    uni   n messages go there, --window of them in flight, then one receipt comes back
          time per message = elapsed / n      bandwidth = size / time
  --op says what carries a message: send (and a receive), put (with a notification where the other
  side waits for it), call (an active message, whose handler copies the data). With get the
  initiator reads the other side's memory and nobody answers: 2n messages one after the other in
  semi, both sides so many in bi, n of them in uni, so that in uni the data comes to the initiator.
  A pair is warmed up, with --warmup messages at a time, until it is steady. An entry is the median
  of the pair's measurements of n messages: one on each of --repetitions N visits, and on the last
  one more and more of them, M in all at most, until the median's 95 % confidence interval is within
  --ci or --budget has passed. N alone means N-N. Then --singles messages are timed one by one (not
  for uni), the clock's own cost taken off: the 90th and 99th percentile and the maximum are theirs.
  Buffers are prepared and the data is checked outside the timed part.
  Modes: parallel measures all pairs of a step at once (links may share wires); serial measures
  one pair at a time; paired does both, and tells by which factor the others' traffic slows each
  pair down: of the mean of its measurements, and of its 99th percentile.
  --bisection measures only pairs between two halves of the ranks; with all pairs of a step at once
  their bandwidths add up to that step's bisection bandwidth.
  Several words for --kernel, --op or --layers, and paired, make several sections: each is
  measured like a run of its own, by the same ranks. After the last one its layers are compared.

Units
  Sizes are bytes; K, M and G mean powers of 1024. Files hold seconds and bytes per second. On the
  screen 1 us = 1e-6 s, and 1 GB/s = 1e9 bytes per second.

Files, in --output DIR, those of --formats
  linktest.h5            one [N x N] dataset per size and metric, units as attributes
  linktest.json          facts, figures, matrices, slowest pairs
  linktest.summary.json  the same without matrices
  linktest.csv, .jsonl   a line per size and pair
  linktest.prom          figures for Prometheus' textfile collector
  linktest.junit.xml     what was found, as test cases for CI
  linktest.drain.txt     hosts to take out of service, one on each line
  linktest-<bytes>.sion  with --sion: as LinkTest 1.x writes them
With several sections a folder of these for each, such as DIR/uni-put, and
  linktest.sections.json  which there are, and how each ended
heddle report makes pages and other formats of them.

Exit status
  0 all pairs measured        2 wrong or impossible option    4 some pairs could not be measured
  1 could not run or write    3 data arrived corrupted        130 interrupted
  5 a node or link is slow    6 a rule or the baseline is missed
  Whatever ends a run early, what was measured until then is in the files and on the screen.)";

template <class Enum>
using names = std::map<std::string, Enum>;
const names<run_mode> modes{
    {"parallel", run_mode::parallel}, {"serial", run_mode::serial}, {"paired", run_mode::paired}};
const names<kernel> kernels{{"semi", kernel::semi}, {"bi", kernel::bi}, {"uni", kernel::uni}};
const names<operation> operations{{"send", operation::send},
                                  {"put", operation::put},
                                  {"get", operation::get},
                                  {"call", operation::call}};
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

std::string text_of_repetitions(const options& o) {
  return o.most_repetitions == o.repetitions
             ? fmt::format("{}", o.repetitions)
             : fmt::format("{}-{}", o.repetitions, o.most_repetitions);
}

/// "5", or "3-50". Returns what is wrong with it, or nothing.
std::string take_repetitions(const std::string& text, options& into) {
  constexpr std::uint64_t many = 1'000'000;
  std::uint64_t least = 0;
  const char* end = text.data() + text.size();
  auto [stop, problem] = std::from_chars(text.data(), end, least);
  std::uint64_t most = least;
  if (problem == std::errc{} && stop != end && *stop == '-') {
    const auto second = std::from_chars(stop + 1, end, most);
    stop = second.ptr;
    problem = second.ec;
  }
  if (problem != std::errc{} || stop != end || least < 1 || most < least || most > many)
    return fmt::format("'{}' is not accepted; give 1 to {}, or two of these such as 3-50", text,
                       many);
  into.repetitions = least;
  into.most_repetitions = most;
  return {};
}

void add_repetitions(CLI::App& command, options& into) {
  command
      .add_option_function<std::string>(
          "--repetitions", [](const std::string&) {},
          "How often every pair is visited, and measured at most")
      ->check(CLI::Validator(
          [&into](const std::string& text) { return take_repetitions(text, into); }, ""))
      ->type_name("N[-M]")
      ->default_str(text_of_repetitions(into));
}

void add_sizes(CLI::App& command, options& into) {
  command
      .add_option_function<std::string>(
          "--sizes", [](const std::string&) {}, "Message sizes in bytes, comma-separated: 8,1K,4M")
      ->check(checked_by([&into](const std::string& text) { into.sizes = parse_sizes(text); }))
      ->type_name("LIST")
      ->default_str("8,128K");
}

/// Takes a list of words of `known`, each once, or says what is wrong with it.
template <class Take>
std::string take_words(const std::string& text, const std::vector<std::string>& known,
                       const Take& take) {
  std::vector<std::string> words;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    const std::string word = text.substr(from, comma - from);
    if (std::find(known.begin(), known.end(), word) == known.end())
      return fmt::format("'{}' is not accepted; give some of {}", word, fmt::join(known, ", "));
    if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
    from = comma + 1;
  }
  take(words);
  return {};
}

/// An option that takes several of the words `known`; `take` gets them.
template <class Take>
CLI::Option* add_words(CLI::App& command, const std::string& name,
                       const std::vector<std::string>& known, const std::string& help,
                       const Take& take) {
  return command
      .add_option_function<std::string>(
          name, [](const std::string&) {}, help)
      ->check(CLI::Validator(
          [known, take](const std::string& text) { return take_words(text, known, take); }, ""))
      ->type_name(fmt::format("{},...", fmt::join(known, "|")));
}

template <class Enum>
std::vector<std::string> words_of(const names<Enum>& table) {
  std::vector<std::string> words;
  for (const auto& [word, value] : table) words.push_back(word);
  return words;
}

/// An option that takes several words of `table`; the first one's value goes into `first`, too.
template <class Enum>
void add_choices(CLI::App& command, const std::string& name, const names<Enum>& table,
                 std::vector<Enum>& into, Enum& first, const std::string& help) {
  add_words(command, name, words_of(table), help,
            [&table, &into, &first](const std::vector<std::string>& words) {
              into.clear();
              for (const std::string& word : words) into.push_back(table.at(word));
              first = into.front();
            })
      ->default_str(text_of(table, first));
}

template <class Enum>
std::string text_of(const names<Enum>& table, const std::vector<Enum>& values) {
  std::vector<std::string> words;
  for (const Enum value : values) words.push_back(text_of(table, value));
  return fmt::format("{}", fmt::join(words, ","));
}

void add_formats(CLI::App& command, options& into) {
  add_words(command, "--formats", file_formats(), "Files to write",
            [&into](const std::vector<std::string>& words) { into.formats = words; })
      ->default_str("h5,json");
}

void add_layers(CLI::App& command, options& into) {
  command
      .add_option_function<std::string>(
          "--backend,--layers", [](const std::string&) {},
          "Wires that every pair must use; with .rail0 or .rail0-3 behind it a wire's rails, each "
          "alone")
      ->check(checked_by([&into](const std::string& text) {
        into.layers = layers_in(text, list_backends());
        into.layer = into.layers.front();
      }))
      ->type_name(fmt::format("auto|{},...", fmt::join(list_backends(), "|")))
      ->default_str("auto");
}

void add_halves(CLI::App& command, options& into) {
  command
      .add_option_function<std::string>(
          "--bisection", [](const std::string&) {},
          "Only pairs between two halves: first, random (by the seed), hosts or groups (whole "
          "ones), or one half's ranks: 0-3,8")
      ->check(checked_by([&into](const std::string& text) { into.halves = parse_halves(text); }))
      ->type_name("HALF");
}

void add_measurement_options(CLI::App& command, options& into) {
  add_layers(command, into);
  add_choice(command, "--mode", modes, into.mode, "Pairs of a step at once, one by one, or both");
  add_choices(command, "--kernel", kernels, into.kernels, into.kernel,
              "Traffic of a measurement, see below");
  add_choices(command, "--op", operations, into.ops, into.op,
              "What carries the messages, see below");
  add_sizes(command, into);
  constexpr std::uint64_t many = 1'000'000'000;
  add_number<std::uint64_t>(command, "--messages", into.messages, 1, many,
                            "n: messages per measurement");
  add_number<std::uint64_t>(command, "--window", into.window, 1, most_in_flight,
                            "Messages of kernel uni in flight");
  add_number<std::uint64_t>(command, "--buffers", into.buffers, 1, most_buffers,
                            "Buffers of each rank, of which each visit takes one by the seed");
  add_number<std::uint64_t>(command, "--warmup", into.warmup, 0, many,
                            "Untimed messages before each measurement");
  add_repetitions(command, into);
  add_real(command, "--ci", into.interval_percent, 0, 100, "P",
           "Percent of the median within which its 95 % confidence interval is to lie");
  add_real(command, "--budget", into.budget_ms, 0, 3.6e6, "MS",
           "Milliseconds on a pair and size, after which its interval may stay wider");
  add_number<std::uint64_t>(
      command, "--singles", into.singles, 0, 1'000'000,
      "Messages timed one by one for the percentiles, if the budget lasts; 0: none");
  add_number<std::uint64_t>(command, "--drift", into.drift, 0, 1'000'000,
                            "Steps that ranks may be apart; 0: each step begins together");
  command.add_flag_callback(
      "--no-check", [&into] { into.check = false; }, "Do not look at the bytes that arrive");
  add_number<std::uint64_t>(command, "--seed", into.seed, 0, ~std::uint64_t{0},
                            "Of everything random, and of the test data");
  command.add_flag("--shuffle", into.shuffle, "Shuffle ranks and steps, anew in each repetition");
  add_halves(command, into);
  command.add_flag("--all-to-all", into.all_to_all,
                   "Before each step a byte from every rank to every other one, timed");
  add_real(command, "--timeout", into.timeout_s, 0.1, 86'400, "S",
           "Seconds without an answer after which a pair counts as failed");
}

void add_output_options(CLI::App& command, options& into) {
  add_number<std::uint64_t>(command, "--slowest", into.slowest, 0, 1'000'000,
                            "How many slowest pairs to name per size");
  command.add_option("--output", into.output, "Directory for the result files, made if missing")
      ->type_name("DIR")
      ->default_str("linktest-<date>-<time>");
  command.add_flag("--overwrite", into.overwrite,
                   "Replace results that --output already holds, instead of refusing");
  command
      .add_option(
          "--resume", into.resume,
          "Go on with the unfinished run in DIR, by its own options; what it measured stays")
      ->type_name("DIR");
  add_formats(command, into);
  add_number<int>(command, "--sion", into.sion_files, 0, 1'000'000,
                  "Also write SION files in the layout of LinkTest 1.x: a set of N for each size");
  command.add_option("--typed", into.typed)->group("");  // from the starter of a job to its ranks
  add_choice(command, "--color", colors, into.color, "Colours; auto: on a terminal");
  command.add_flag_callback(
      "--no-color", [&into] { into.color = color_choice::never; }, "Same as --color never");
  command.add_flag("--quiet", into.quiet, "Print only errors, the summary and the files' paths");
  add_choice(command, "--progress", progresses, into.progress,
             "On standard error; auto: a bar on a terminal, else a few lines");
  add_number<int>(command, "--width", into.width, 0, 10'000, "Columns to draw in; 0: ask");
}

}  // namespace

const std::vector<std::string>& file_formats() {
  static const std::vector<std::string> all{"h5",  "json", "summary.json", "jsonl",
                                            "csv", "prom", "junit.xml",    "drain.txt"};
  return all;
}

const char* name_of(run_mode mode) noexcept {
  return text_of(modes, mode).c_str();
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

void declare_options(CLI::App& command, options& into) {
  command.description(description);
  command.footer(help_footer);
  add_number<int>(command, "-n,--ranks", into.ranks, 2, max_planned,
                  "Ranks to start, here or on --hosts; leave out inside a job");
  add_measurement_options(command, into);
  add_output_options(command, into);
  declare_search_options(command, into.search);
}

std::vector<std::string> to_arguments(const options& chosen) {
  std::vector<std::string> out{"linktest"};
  const auto add = [&out](const char* name, const auto& value) {
    out.emplace_back(name);
    out.push_back(fmt::format("{}", value));
  };
  add("--ranks", chosen.ranks);
  add("--backend", fmt::format("{}", fmt::join(chosen.layers, ",")));
  add("--mode", text_of(modes, chosen.mode));
  add("--kernel", text_of(kernels, chosen.kernels));
  add("--op", text_of(operations, chosen.ops));
  add("--sizes", fmt::format("{}", fmt::join(chosen.sizes, ",")));
  add("--messages", chosen.messages);
  add("--window", chosen.window);
  add("--buffers", chosen.buffers);
  add("--warmup", chosen.warmup);
  add("--repetitions", text_of_repetitions(chosen));
  add("--ci", chosen.interval_percent);
  add("--budget", chosen.budget_ms);
  add("--singles", chosen.singles);
  add("--drift", chosen.drift);
  add("--seed", chosen.seed);
  add("--timeout", chosen.timeout_s);
  add("--slowest", chosen.slowest);
  if (!chosen.output.empty()) add("--output", chosen.output);
  add("--formats", fmt::format("{}", fmt::join(chosen.formats, ",")));
  add("--sion", chosen.sion_files);
  if (!chosen.typed.empty()) add("--typed", chosen.typed);
  add("--color", text_of(colors, chosen.color));
  add("--progress", text_of(progresses, chosen.progress));
  add("--width", chosen.width);
  if (!chosen.check) out.emplace_back("--no-check");
  if (chosen.shuffle) out.emplace_back("--shuffle");
  if (chosen.all_to_all) out.emplace_back("--all-to-all");
  if (chosen.halves.what != halves_choice::how::none) add("--bisection", text_of(chosen.halves));
  if (chosen.quiet) out.emplace_back("--quiet");
  if (chosen.overwrite) out.emplace_back("--overwrite");
  if (!chosen.resume.empty()) add("--resume", chosen.resume);
  add_arguments(chosen.search, out);
  return out;
}

}  // namespace heddle::linktest
