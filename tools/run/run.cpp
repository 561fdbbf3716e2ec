// SPDX-License-Identifier: BSD-3-Clause
// run.cpp - `heddle run`: the launcher's command line.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "run/agent.h"
#include "run/host_options.h"
#include "run/launcher.h"
#include "subcommand.h"

namespace heddle::tools {
namespace {

constexpr const char* about = "Start a program as N ranks of one job, here or on other hosts";

constexpr const char* details =
    R"(PROGRAM finds its place in the job by itself when it makes a heddle::world.

Rank 0 reads the launcher's input, the others read nothing. When a rank fails,
the launcher says which and why, ends the others (SIGTERM, after 2 seconds
SIGKILL) and exits with the status of the first rank that failed: its own exit
status, or 128 + the number of the signal that killed it. 127 means that there
is no such program, 126 that it cannot be run, 2 that an option is wrong.

When nobody reads the output any more (heddle run ... | head -1), ranks that
print are ended by SIGPIPE, as without the launcher, with --prefix too; the
status is then 141. With --prefix a full disk gives 1, and the launcher says so.

Ranks wait for each other when they make their worlds. The launcher says whom
they wait for after 5 seconds, and fails them after HEDDLE_JOIN_TIMEOUT_MS.

SIGINT (Ctrl-C), SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2 are passed on to
the ranks and to what they have started. A second request to end makes the
launcher end them, a third one kills them. If the launcher itself is killed, so
are they.

Each rank is bound to its share of the cores of its host that this program may
use itself, in the order of ranks, threads of Heddle's own included; --bind numa and
--bind 0,4-7 bind otherwise, --bind none does not. With more ranks than cores on a
host none is bound there. heddle run ... -- heddle info shows who runs where.

With --hosts or --hostfile the ranks run on other hosts: host after host is filled
in the order given, with -n ranks or with as many as there is room for. On each
host this program runs as an agent, which ssh starts, or whatever --starter
names; on more hosts than --fanout some agents start the others, as a tree.
Everything goes through these channels: the environment but for what
belongs to a login (HOME, DISPLAY, SSH_*, ...), output, input, signals, and the
secret by which ranks know each other. No port is opened for it. When the
launcher, an agent or what started it is lost, what belongs to it is killed;
a host that has said nothing for --silence-limit seconds is lost.

Examples:
  heddle run -n 4 ./hello
  heddle run --hosts node1:4,node2:4 -- ./hello
  heddle run -n 1 -- ./leader : -n 3 ./worker --fast
  heddle run -n 4 --wrap '2:gdb -batch -ex run -ex bt --args' -- ./hello
  heddle run -n 2 --prefix --env HEDDLE_BACKENDS=tcp -- ./pingpong --size 1M)";

// The mark before the program was a "--" for us, one behind it is the program's own.
void take_command(std::vector<std::string> words, launch_options& options) {
  if (!words.empty() && words.front() == command_mark)
    words.erase(words.begin());
  else if (!words.empty() && words.front().starts_with('-'))
    throw CLI::ExtrasError("run", {words.front()});
  if (words.empty()) throw CLI::RequiredError("PROGRAM");
  std::replace(words.begin(), words.end(), std::string(command_mark), std::string("--"));
  auto parts = parse_programs(words, options.ranks);
  options.program = parts.front().words.front();
  options.arguments.assign(parts.front().words.begin() + 1, parts.front().words.end());
  options.further.assign(parts.begin() + 1, parts.end());
}

// With several programs each says for how many ranks it is.
std::optional<int> all_ranks(const std::optional<int>& first, const launch_options& options) {
  if (options.further.empty()) return first;
  int sum = first.value_or(1);
  for (const program_part& part : options.further) sum += part.ranks;
  return sum;
}

}  // namespace

void add_run(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<launch_options>();
  const auto hosts = std::make_shared<host_options>();
  const auto ranks = std::make_shared<std::optional<int>>();
  const auto wraps = std::make_shared<std::vector<std::string>>();
  CLI::App* run = app.add_subcommand("run", about);
  run->footer(details);
  run->add_option("-n,--ranks", *ranks,
                  "Number of ranks (default: 1, or as many as the hosts take)")
      ->type_name("N")
      ->check(CLI::Range(1, most_ranks));
  add_host_options(*run, *hosts);
  run->add_option("--env", options->environment,
                  "Set an environment variable in all ranks; may be given several times")
      ->type_name("NAME=VALUE")
      ->take_all()
      ->allow_extra_args(false);
  run->add_flag("--prefix", options->prefix, "Lead each line of output with its rank, like [3]");
  run->add_flag("--keep-going", options->keep_going,
                "Let the other ranks go on when one fails; the exit status is still its");
  add_bind_option(*run, options->bind);
  run->add_option("--wrap", *wraps,
                  "Run these ranks' program behind a command, such as 0,4-7:valgrind; may be given "
                  "several times")
      ->type_name("RANKS:CMD")
      ->take_all()
      ->allow_extra_args(false);
  run->add_option("--output-folder", options->output_folder,
                  "Let each rank print into files of its own host there: rank-3.out, rank-3.err")
      ->type_name("DIR");
  run->add_option("--timeout", options->timeout_s,
                  "End the job, with status 124, when it has run for so many seconds")
      ->type_name("S")
      ->check(CLI::Range(1, std::numeric_limits<int>::max()));
  run->prefix_command();
  run->callback([run, options, hosts, ranks, wraps, &exit_code] {
    take_command(run->remaining(), *options);
    const auto all = all_ranks(*ranks, *options);
    options->ranks = all.value_or(1);
    take_hosts(*hosts, all, *options);
    for (const std::string& text : *wraps) options->wrappers.push_back(parse_wrapper(text));
    exit_code = launch(*options);
  });
  // What the launcher starts on other hosts; of no use to people.
  app.add_subcommand("agent", "Run ranks of this host for a launcher")
      ->group("")
      ->callback([&exit_code] { exit_code = agent().run(); });
}

}  // namespace heddle::tools
