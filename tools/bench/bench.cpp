// SPDX-License-Identifier: BSD-3-Clause
// bench.cpp - the command `heddle bench`, and of its subcommands those that are no benchmark.
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/commands.h"
#include "contenders/command.h"
#include "contenders/rivals.h"
#include "contenders/ucx_perftest.h"
#include "exit_status.h"
#include "harness/programs.h"
#include "harness/statistics.h"
#include "real_range.h"
#include "report/compare.h"
#include "standard_output.h"
#include "subcommand.h"

namespace heddle::bench {
namespace {

constexpr const char* details =
    R"(Two ranks on this machine, or the ranks of the job it is started in: an even
rank initiates, the next one is its target. Latency is half a round trip for put,
am and tag, the whole of it for get and fetch-add. Every round measures all
contenders in turn and the time a cache line needs between the two cores, because
machines change their speed within seconds. The figures are medians of the rounds;
their interval is 95 % by order statistics from six rounds on. The p99 of a latency
is that of single operations. What the other benchmarks measure, and how they differ
from where they come from, says their own --help.

Examples:
  heddle bench latency --op am --backend shm --compare ucx,bare
  heddle bench bandwidth --op tag --buffers exposed --sizes 64K,1M,16M
  heddle bench rate --op put --threads 2 --json put.json
  heddle bench mt-rate --op tag --threads 1,2,4 --shared-lane --compare ucx,openmpi,mpich
  heddle bench table --markdown table.md
  heddle bench compare before.json after.json
  heddle bench plot results/bench --out figures --format png,pdf)";

// --- compare ----------------------------------------------------------------------------------

struct compare_options {
  std::string before, after;
  thresholds when;
  bool all = false;
};

int run_compare(const compare_options& o) {
  const auto changes = compare(read_records(o.before), read_records(o.after), o.when);
  if (changes.empty())
    throw std::runtime_error(
        "the two files have no figure of Heddle in common; name two files "
        "that --json of the same benchmarks has written");
  tools::print(compare_table(changes, o.all));
  const auto worse = [](const change& c) { return c.what == verdict::worse; };
  return std::any_of(changes.begin(), changes.end(), worse) ? tools::failed : tools::success;
}

void add_compare(CLI::App& bench, int& code) {
  auto o = std::make_shared<compare_options>();
  CLI::App& app = *bench.add_subcommand("compare", "What changed between two files of records");
  app.add_option("OLD", o->before, "records, from --json")->required()->check(CLI::ExistingFile);
  app.add_option("NEW", o->after, "records of the same benchmarks")
      ->required()
      ->check(CLI::ExistingFile);
  const auto set = [o](double percent) { o->when.share = percent / 100; };
  app.add_option_function<double>("--percent", set, "of the median: a smaller change is none")
      ->check(tools::real_range(0, 1000))
      ->default_str("5");
  app.add_option("--chance", o->when.probability,
                 "a change counts if it is this improbable by chance (Mann-Whitney over the "
                 "rounds, at least 5 of each)")
      ->check(tools::real_range(0, 1))
      ->capture_default_str();
  app.add_flag("--all", o->all, "print also what is the same");
  app.footer("Ends in status 1 when a figure of Heddle has become worse.");
  app.callback([o, &code] { code = run_compare(*o); });
}

// --- check-ucx: our loops over UCX beside UCX's own, in turn ---------------------------------

struct ucx_check {
  std::vector<std::string> backends{"shm", "tcp"};
  int rounds = 5;
  std::chrono::milliseconds time{200};  ///< of one round
};

constexpr double wanted = 0.95;
constexpr auto layout = "{:<8}{:<11}{:<11}{:>12}{:>14} {:<5}{:>8}  {}\n";

/// Whether it could be measured.
bool check(const ucx_check& o, const std::string& backend, kind what, operation op) {
  // ucx_perftest measures memory that UCX has allocated.
  const spec s{.what = what, .op = op, .buffers = buffer_kind::exposed, .time = o.time};
  const task t{
      .what = s, .backend = backend, .cores = cores_of_rank(bare::allowed_cores(), 0, 1, 2)};
  std::uint64_t iterations = 200;
  std::vector<double> ours, theirs;
  try {
    for (int round = 0; round < o.rounds; ++round) {
      ours.push_back(rival_round(rival::ucx, t).figures.front());
      theirs.push_back(figure(s, ucx_round(t, iterations)));
    }
  } catch (const std::runtime_error& why) {
    tools::print(fmt::format("{} {} {}: {}\n", backend, name_of(what), name_of(op), why.what()));
    return false;
  }
  const double times = median(ours) / median(theirs);
  const double ratio = what == kind::latency ? 1 / times : times;
  tools::print(fmt::format(layout, backend, name_of(what), name_of(op),
                           fmt::format("{:.4g}", median(ours)),
                           fmt::format("{:.4g}", median(theirs)), metrics_of(s).front().unit,
                           fmt::format("{:.3g}", ratio), ratio >= wanted ? "pass" : "short"));
  return true;
}

/// Prints a line for each backend, kind and operation. Returns success, or incomplete when one of
/// both failed. Throws std::runtime_error naming the package when one is missing.
int run_ucx_check(const ucx_check& o) {
  (void)find_ucx();
  (void)find_peer(rival::ucx);
  tools::print(fmt::format(layout, "", "", "", "our loop", "ucx_perftest", "", "ratio", ""));
  bool complete = true;
  for (const std::string& backend : o.backends) {
    for (const kind what : {kind::latency, kind::rate}) {
      for (const auto& [name, op] : choices<operation>())
        complete = check(o, backend, what, op) && complete;
    }
  }
  return complete ? tools::success : tools::incomplete;
}

void add_check_ucx(CLI::App& bench, int& code) {
  auto o = std::make_shared<ucx_check>();
  CLI::App& app = *bench.add_subcommand(
      "check-ucx", "Our loops over UCX beside ucx_perftest: are the rival's figures fair?");
  app.add_option("--backend", o->backends, "shm, tcp, or both with a comma")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"shm", "tcp"}))
      ->capture_default_str();
  add_rounds(app, o->rounds, o->time);
  app.footer(
      "Each operation of 8 bytes by both in turn, on the same cores; the ratio is that of the "
      "medians, and 1 or more where our loop is as quick. At least 0.95 is wanted. ucx_perftest "
      "counts on a different kind of run, so a ratio above 1 is no merit.");
  app.callback([o, &code] { code = run_ucx_check(*o); });
}

// --- plot -------------------------------------------------------------------------------------

struct plot_options {
  std::string folder;  ///< with files of records
  std::string out;     ///< for the figures; empty: the same
  std::vector<std::string> formats{"png"};
};

/// Lets the script draw, which says what is wrong itself.
int run_plot(const plot_options& o) {
  const std::string script = companion_file("plot.py").string();
  if (access(script.c_str(), R_OK) != 0)
    throw std::runtime_error("the script '" + script + "' is missing: install heddle again");
  command c{.program = find_program("python3"), .arguments = {"-B", script}, .show_output = true};
  if (c.program.empty())
    throw std::runtime_error(
        "drawing needs python3, which is not in PATH; on Debian: apt install python3-matplotlib");
  c.arguments.push_back("--out=" + (o.out.empty() ? o.folder : o.out));
  for (const std::string& format : o.formats) c.arguments.push_back("--format=" + format);
  c.arguments.insert(c.arguments.end(), {"--", o.folder});
  child drawing(c);
  if (!drawing.wait_until(std::chrono::steady_clock::now() + std::chrono::minutes(10)))
    throw std::runtime_error("drawing took longer than 10 minutes and was ended");
  return drawing.exit_status() == 0 ? tools::success : tools::failed;
}

void add_plot(CLI::App& bench, int& exit_code) {
  auto o = std::make_shared<plot_options>();
  CLI::App& app = *bench.add_subcommand("plot", "Figures from records, as in the papers");
  app.add_option("DIR", o->folder, "folder with files of records, from --json")->required();
  app.add_option("--out", o->out, "folder for the figures (default: DIR)");
  app.add_option("--format", o->formats, "png, svg or pdf, several with commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"png", "svg", "pdf"}))
      ->capture_default_str();
  app.callback([o, &exit_code] { exit_code = run_plot(*o); });
}

}  // namespace
}  // namespace heddle::bench

namespace heddle::tools {

void add_bench(CLI::App& app, int& exit_code) {
  CLI::App& command = *app.add_subcommand("bench", "Measure latency, bandwidth and rate");
  command.footer(bench::details);
  command.require_subcommand(1);
  for (const auto add : {bench::add_benchmarks, bench::add_convolution, bench::add_table,
                         bench::add_compare, bench::add_check_ucx, bench::add_plot})
    add(command, exit_code);
}

}  // namespace heddle::tools
