// SPDX-License-Identifier: BSD-3-Clause
// main.cpp - the program `heddle`: picks the command and turns errors into messages.
#include <fmt/format.h>
#include <heddle/info.h>
#include <heddle/status.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "completion.h"
#include "exit_status.h"
#include "help_format.h"
#include "standard_output.h"
#include "subcommand.h"

namespace heddle::tools {
namespace {

constexpr const char* about =
    "Heddle: start jobs, measure the network between their ranks, see what is there";

constexpr const char* details = R"(Each command has its own help: heddle COMMAND --help.

Examples:
  heddle linktest -n 4
  heddle run -n 4 ./hello
  heddle info

Exit status, the same for all commands:
  0        done
  1        could not run, or could not write the results
  2        wrong use: no such command or option, or one that cannot be honoured
  3        linktest: data arrived corrupted
  4        linktest, bench table: something could not be measured
  5        linktest: a slow node, rail or link was found
  6        linktest: a rule or the baseline was missed
  128 + N  ended by signal N; Ctrl-C gives 130, output that nobody reads any
           more gives 141
heddle run ends with the status of its program where that has failed. Files that
linktest and bench were to write are written whatever happens to their output.

Settings are environment variables that begin with HEDDLE_; heddle info lists
them with their values.)";

/// One line that says what is wrong and with which command, and where to read what is right.
std::string complaint(const CLI::App* app, const CLI::Error& problem) {
  std::string command = app->get_name();
  for (auto deeper = app->get_subcommands(); !deeper.empty();
       deeper = deeper.front()->get_subcommands())
    command += ' ' + deeper.front()->get_name();
  return fmt::format("{0}: {1}; see {0} --help\n", command, problem.what());
}

void describe(CLI::App& app) {
  app.failure_message(complaint);
  app.formatter(std::make_shared<help_format>());
  app.footer(details);
  app.require_subcommand(1);
  app.set_version_flag("--version", fmt::format("heddle {}", version()),
                       "Print the version and exit");
  app.add_option_function<std::string>(
         "--completion",
         [&app](const std::string& shell) {
           fmt::print("{}", completion(app, shell));
           throw CLI::Success();
         },
         "Print a completion script for a shell and exit")
      ->type_name("bash|zsh|fish")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->trigger_on_parse();
}

std::vector<std::string> words_of(int argc, char** argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (words.empty() || words.front() != "run") return words;
  const auto dashes = std::find(words.begin(), words.end(), "--");
  if (dashes != words.end()) *dashes = command_mark;
  return words;
}

bool knows(const CLI::App& app, const std::string& command) {
  const auto all = app.get_subcommands({});
  return std::any_of(all.begin(), all.end(),
                     [&](const CLI::App* one) { return one->get_name() == command; });
}

int parse_and_run(std::vector<std::string> words) {
  int exit_code = 0;
  CLI::App app(about, "heddle");
  describe(app);
  add_subcommands(app, exit_code);
  for (CLI::App* command : app.get_subcommands({}))
    if (!command->get_group().empty()) command->group("Commands");
  for (CLI::App* command : app.get_subcommands({}))
    if (!command->get_subcommands({}).empty())
      command->set_help_all_flag("--help-all", "Print the help of its commands as well and exit");
  if (!words.empty() && !words.front().starts_with('-') && !knows(app, words.front())) {
    complain(
        fmt::format("heddle: there is no command '{}'; heddle --help lists them\n", words.front()));
    return bad_usage;
  }
  std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
  try {
    app.parse(words);
  } catch (const CLI::ParseError& end) {
    return app.exit(end) == 0 ? 0 : bad_usage;
  }
  return exit_code;
}

}  // namespace
}  // namespace heddle::tools

int main(int argc, char** argv) {
  try {
    using namespace heddle::tools;
    return finish_output(parse_and_run(words_of(argc, argv)));
  } catch (const heddle::tools::usage_error& problem) {
    heddle::tools::complain(fmt::format("heddle: {}\n", problem.what()));
    return heddle::tools::bad_usage;
  } catch (const std::exception& problem) {
    heddle::tools::complain(fmt::format("heddle: {}\n", problem.what()));
    return heddle::tools::failed;
  }
}
