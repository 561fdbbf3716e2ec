// SPDX-License-Identifier: BSD-3-Clause
// main.cpp - the program heddle_studies: what decided a design, to be measured again when that is
// in doubt. Built and tested, not installed. Here also one of them: the link tester and the same
// schedule over OpenMPI, program by program.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <exception>
#include <iterator>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "exit_status.h"
#include "harness/files.h"
#include "harness/programs.h"
#include "harness/statistics.h"
#include "standard_output.h"
#include "studies/studies.h"

namespace heddle::bench {
namespace {

struct turns_options {
  int ranks = 16, rounds = 5, bytes = 1024, messages = 10, warmup = 2, repetitions = 1;
};

/// Seconds from the start of a program to its end.
double seconds_of(const command& what) {
  constexpr std::chrono::minutes patience{5};
  const auto begin = std::chrono::steady_clock::now();
  child program(what);
  if (!program.wait_until(begin + patience) || program.exit_status() != 0)
    throw std::runtime_error(fmt::format("{} failed:\n{}", what.program, program.output()));
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::vector<std::string> words_in(const std::string& line) {
  std::istringstream in(line);
  return {std::istream_iterator<std::string>(in), {}};
}

/// At equal effort: no adaptive repetition, no percentiles, no check, no retests.
command link_test(const turns_options& o, const std::string& folder) {
  return {.program = neighbour_program("heddle").string(),
          .arguments = words_in(fmt::format(
              "linktest -n {} --sizes {} --messages {} --warmup {} --repetitions {} --singles 0 "
              "--no-check --diagnosis never --quiet --overwrite --output {}",
              o.ranks, o.bytes, o.messages, o.warmup, o.repetitions, folder))};
}

command rival_test(const turns_options& o) {
  const std::string launcher = find_program("mpirun.openmpi");
  if (launcher.empty()) throw std::runtime_error("no mpirun.openmpi: apt install openmpi-bin");
  command c{.program = launcher,
            .arguments = words_in(fmt::format("--allow-run-as-root --mca mpi_yield_when_idle 1 "
                                              "--oversubscribe -n {}",
                                              o.ranks)),
            .end_signal = 15};
  c.arguments.push_back(companion_program("heddle_peer_linktest_openmpi").string());
  for (const int n : {o.bytes, o.messages, o.warmup, o.repetitions})
    c.arguments.push_back(std::to_string(n));
  return c;
}

void take_turns(const turns_options& o) {
  const scratch_folder scratch;
  std::vector<double> ours, theirs, ratios;
  tools::print(fmt::format("{} ranks, {} B\nround   linktest    OpenMPI  OpenMPI / linktest\n",
                           o.ranks, o.bytes));
  for (int round = 0; round < o.rounds; ++round) {
    ours.push_back(seconds_of(link_test(o, scratch.path() + "/results")));
    theirs.push_back(seconds_of(rival_test(o)));
    ratios.push_back(theirs.back() / ours.back());
    tools::print(fmt::format("{:5} {:8.2f} s {:8.2f} s {:10.2f}\n", round + 1, ours.back(),
                             theirs.back(), ratios.back()));
  }
  tools::print(fmt::format("median{:7.2f} s {:8.2f} s {:10.2f}\n", median(ours), median(theirs),
                           median(ratios)));
}

constexpr const char* details =
    R"(From the start of the launcher to its end: all ranks start, measure every two of
them in both directions, and rank 0 has the matrix. OpenMPI runs with
mpi_yield_when_idle, since with more ranks than cores it would not end. Both use the
same schedule and kernel (semi); the link tester warms up until a pair is steady and
agrees on every measurement, which is its own messages on top.)";

/// The time to a whole matrix of links beside OpenMPI's.
void add_linktest(CLI::App& studies, int& code) {
  auto o = std::make_shared<turns_options>();
  CLI::App& app = *studies.add_subcommand("linktest", "A whole matrix of links beside OpenMPI");
  const auto number = [&app](const char* name, int& into, int least, const char* help) {
    app.add_option(name, into, help)->check(CLI::Range(least, 1'000'000))->capture_default_str();
  };
  number("-n,--ranks", o->ranks, 2, "of each job");
  number("--rounds", o->rounds, 1, "of both in turn");
  number("--bytes", o->bytes, 1, "of a message");
  number("--messages", o->messages, 1, "there and back, timed");
  number("--warmup", o->warmup, 0, "there and back, before");
  number("--repetitions", o->repetitions, 1, "of the matrix");
  app.footer(details);
  app.callback([o, &code] {
    take_turns(*o);
    code = tools::success;
  });
}

constexpr const char* about =
    "Studies of Heddle's own choices, by the harness of `heddle bench`; figures and goals are in "
    "docs/performance.md";

int parse_and_run(int argc, char** argv) {
  int code = tools::success;
  CLI::App app(about, "heddle_studies");
  app.require_subcommand(1);
  add_adaptive(app, code);
  add_linktest(app, code);
  add_offload(app, code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& end) {
    return app.exit(end) == 0 ? tools::success : tools::bad_usage;
  }
  return code;
}

}  // namespace
}  // namespace heddle::bench

int main(int argc, char** argv) {
  try {
    return heddle::tools::finish_output(heddle::bench::parse_and_run(argc, argv));
  } catch (const heddle::tools::usage_error& problem) {
    heddle::tools::complain(fmt::format("heddle_studies: {}\n", problem.what()));
    return heddle::tools::bad_usage;
  } catch (const std::exception& problem) {
    heddle::tools::complain(fmt::format("heddle_studies: {}\n", problem.what()));
    return heddle::tools::failed;
  }
}
