// SPDX-License-Identifier: BSD-3-Clause
// main.cpp - the program heddle_studies: what decided a design, to be measured again when that is
// in doubt. Built and tested, not installed.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <exception>

#include "exit_status.h"
#include "standard_output.h"
#include "studies/studies.h"

namespace {

constexpr const char* about =
    "Studies of Heddle's own choices, by the harness of `heddle bench`; figures and goals are in "
    "docs/performance.md";

int parse_and_run(int argc, char** argv) {
  int code = heddle::tools::success;
  CLI::App app(about, "heddle_studies");
  app.require_subcommand(1);
  heddle::bench::add_adaptive(app, code);
  heddle::bench::add_linktest(app, code);
  heddle::bench::add_offload(app, code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& end) {
    return app.exit(end) == 0 ? heddle::tools::success : heddle::tools::bad_usage;
  }
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return heddle::tools::finish_output(parse_and_run(argc, argv));
  } catch (const heddle::tools::usage_error& problem) {
    heddle::tools::complain(fmt::format("heddle_studies: {}\n", problem.what()));
    return heddle::tools::bad_usage;
  } catch (const std::exception& problem) {
    heddle::tools::complain(fmt::format("heddle_studies: {}\n", problem.what()));
    return heddle::tools::failed;
  }
}
