// SPDX-License-Identifier: BSD-3-Clause
// task.cpp - one list of options, which is read and written.
#include "libraries/task.h"

#include <fmt/ranges.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "harness/choice.h"
#include "harness/slots.h"
#include "kernels/gups.h"
#include "parts/pinning.h"

namespace heddle::bench {
namespace {

using words = std::vector<std::string>;

constexpr const char* about =
    "Measures a rival of Heddle by the definitions of `heddle bench`, which runs this program; "
    "prints a line of JSON for each round. See docs/guide/measuring.md.";

/// Calls `visit(name, member, help)` for every option.
template <class Task, class F>
void each_option(Task& t, F&& visit) {
  visit("--op", t.what.op, "operation");
  visit("--bytes", t.what.bytes, "of a message");
  visit("--threads", t.what.threads, "of a rank");
  visit("--paths", t.what.lanes,
        "communicators, workers or VCQs, shared by neighbouring threads; 0: one per thread");
  visit("--target", t.what.target, "bare: what the target does while it is read from");
  visit("--table", t.what.table_bytes, "bytes of a rank that the other one accesses");
  visit("--buffers", t.what.buffers,
        "the program's memory, or the library's where it allocates any");
  visit("--window", t.what.window, "operations in flight per thread");
  visit("--time-ms", t.what.time, "of a round");
  visit("--rounds", t.rounds, "each of which prints a line");
  visit("--backend", t.backend, "bare: the wire, tcp or shm");
  visit("--limit-s", t.limit, "seconds beyond the rounds' own, after which the program is killed");
  visit("--cores", t.cores, "that both ranks may use together");
  visit("--compute-us", t.what.compute_us, "overlap: microseconds of computing");
  visit("--computing", t.what.who, "overlap: which side computes");
  visit("--memory", t.what.memory_bytes, "gups: bytes of a rank");
  visit("--atomic", t.what.atomic, "gups: one remote xor instead of get, xor, put");
  visit("--background", t.what.background, "a latency for which nobody polls or waits");
}

/// Adds an option of a command line that sets `into`.
template <class T>
void add_option(CLI::App& app, const char* name, T& into, const char* help) {
  if constexpr (std::is_same_v<T, bool>)
    app.add_flag(name, into, help);
  else if constexpr (std::is_enum_v<T>)
    add_choice(app, name, into, help);
  else if constexpr (std::is_same_v<T, std::vector<int>>)
    app.add_option(name, into, help)->delimiter(',');
  else if constexpr (std::is_same_v<T, std::string>)
    app.add_option(name, into, help);
  else if constexpr (requires { into.count(); })
    app.add_option_function<int>(
        name, [&into](int count) { into = T(count); }, help);
  else
    app.add_option(name, into, help)->check(CLI::NonNegativeNumber);
}

/// What gives such an option this value.
template <class T>
words words_for(const char* name, const T& value) {
  if constexpr (std::is_same_v<T, bool>)
    return words(value ? 1 : 0, name);
  else if constexpr (std::is_enum_v<T>)
    return {name, name_of(value)};
  else if constexpr (std::is_same_v<T, std::vector<int>>)
    return value.empty() ? words{} : words{name, fmt::format("{}", fmt::join(value, ","))};
  else if constexpr (requires { value.count(); })
    return {name, std::to_string(value.count())};
  else
    return {name, fmt::format("{}", value)};
}

constexpr const char* beginning = R"({"peer_round":)";

}  // namespace

std::size_t task::table_bytes() const {
  return gups() ? gups_words(what.memory_bytes) * sizeof(std::uint64_t)
                : table_layout::for_spec(what).bytes();
}

task parse(int argc, char** argv) {
  task t;
  CLI::App app(about);
  add_choice(app, "measure", t.what.what, "what to measure")->required()->default_str("");
  each_option(t, [&app](const char* name, auto& into, const char* help) {
    add_option(app, name, into, help);
  });
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& end) {
    std::exit(app.exit(end));
  }
  return t;
}

std::vector<std::string> words_of(const task& t) {
  words all{name_of(t.what.what)};
  each_option(t, [&all](const char* name, const auto& value, const char*) {
    const words more = words_for(name, value);
    all.insert(all.end(), more.begin(), more.end());
  });
  return all;
}

void settle_in(const task& t, int rank) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  constexpr std::chrono::seconds after_others{10};
  alarm(static_cast<unsigned>((t.patience() + after_others).count()));
  if (!t.cores.empty()) {
    bare::pin_this_thread(cores_of_rank(t.cores, rank, 2, t.what.threads));
  }
}

std::string to_line(const round_result& r) {
  return nlohmann::ordered_json{{"peer_round", r.figures}, {"p99", r.p99}}.dump();
}

std::vector<round_result> parse_lines(const std::string& output) {
  std::vector<round_result> rounds;
  std::istringstream in(output);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(beginning)) continue;
    try {
      const auto object = nlohmann::json::parse(line);
      const round_result& r = rounds.emplace_back(round_result{
          object.at("peer_round").get<std::vector<double>>(), object.value("p99", 0.0)});
      if (r.figures.empty() || !(r.figures.front() > 0))
        throw std::runtime_error("its first figure is not positive");
    } catch (const std::exception& why) {
      throw std::runtime_error("a peer program printed something unexpected: " + line + ": " +
                               why.what());
    }
  }
  return rounds;
}

}  // namespace heddle::bench
