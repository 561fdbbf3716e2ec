// bench.cpp - the command line of `heddle bench`.
#include <fmt/core.h>

#include <memory>
#include <new>
#include <stdexcept>

#include "bench/overlap.h"
#include "bench/plot_command.h"
#include "bench/result_file.h"
#include "bench/run.h"
#include "bench/station.h"
#include "bench/table.h"
#include "exit_status.h"
#include "run/launcher.h"
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
is that of single operations.

Examples:
  heddle bench latency --op am --backend shm --compare ucx,bare
  heddle bench bandwidth --op tag --buffers exposed --sizes 64K,1M,16M
  heddle bench rate --op put --threads 2 --shared-lane --compare ucx,openmpi,mpich
  heddle bench rate --op put --threads 2 --json put.json
  heddle bench table --markdown table.md
  heddle bench plot results/bench --out figures --format png,pdf)";

/// What the parser fills in; defaults that depend on the subcommand are settled afterwards.
struct command_line {
  options o;
  buffer_kind buffers = buffer_kind::plain;
  const CLI::Option* buffers_given = nullptr;
  const CLI::Option* window_given = nullptr;
  int time_ms = 200;
  std::string bind = "core";
};

operation default_operation(kind what) {
  switch (what) {
    case kind::latency:
      return operation::am;
    case kind::bandwidth:
      return operation::tag;
    case kind::rate:
      return operation::put;
  }
  return operation::am;
}

/// Large messages need few in flight, and more of them leave the caches.
constexpr int bandwidth_window = 4;

options settle(const command_line& line) {
  options o = line.o;
  const bool bandwidth = o.base.what == kind::bandwidth;
  if (o.sizes.empty()) o.sizes = {bandwidth ? std::uint64_t{1} << 20 : 8};
  if (bandwidth && line.window_given->empty()) o.base.window = bandwidth_window;
  const bool given = !line.buffers_given->empty();
  o.base.buffers = given ? line.buffers : bandwidth ? buffer_kind::plain : buffer_kind::exposed;
  o.base.time = std::chrono::milliseconds(line.time_ms);
  o.bind_cores = line.bind == "core";
  return o;
}

/// Runs `body` on every rank of the job that this process is in, or starts one of itself.
template <class F>
int on_every_rank(const options& o, F&& body) {
  if (!tools::inside_job()) {
    check_writable(o.json_file, "--json");
    tools::launch_options job;
    job.ranks = o.ranks;
    job.ranks_explain = true;
    return tools::launch_self(job);
  }
  try {
    body();
  } catch (const std::bad_alloc&) {
    throw std::runtime_error(
        "not enough memory for these messages; give smaller --sizes, or --window");
  }
  return tools::success;
}

int measure(const options& o) {
  check_options(o);
  return on_every_rank(o, [&] { run_in_job(o); });
}

template <class E>
std::vector<std::string> names_in(const std::map<std::string, E>& names) {
  std::vector<std::string> result;
  for (const auto& [name, value] : names) result.push_back(name);
  return result;
}

template <class E>
CLI::Option* add_choice(CLI::App& app, const char* name, E& into,
                        const std::map<std::string, E>& names, const char* help) {
  const auto set = [&into, &names](const std::string& chosen) { into = names.at(chosen); };
  return app.add_option_function<std::string>(name, set, help)
      ->check(CLI::IsMember(names_in(names)));
}

/// --compare: a list, in which "none" may stand for an empty one.
void add_rivals(CLI::App& app, options& o) {
  const auto set = [&into = o.rivals](const std::vector<std::string>& chosen) {
    into.clear();
    for (const std::string& name : chosen) {
      if (name != "none") into.push_back(rival_names().at(name));
    }
  };
  std::vector<std::string> names = names_in(rival_names());
  names.emplace_back("none");
  app.add_option_function<std::vector<std::string>>(
         "--compare", set,
         "measure in turn with other libraries, the machine's bare limit, or a pair of the job's "
         "ranks")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember(names));
  app.add_option("--rival-limit-s", o.rival_limit_s,
                 "seconds a library may take for a round beyond its length, before it is killed")
      ->check(CLI::Range(1, 3600))
      ->capture_default_str();
}

/// "4M" becomes "4194304". Returns what is wrong with it; empty: nothing.
std::string take_size(std::string& text) {
  constexpr std::uint64_t most = std::uint64_t{1} << 30;
  const std::string given = text;
  try {
    std::uint64_t bytes = 0;
    if (CLI::AsSizeValue(false)(text).empty() && CLI::detail::lexical_cast(text, bytes) &&
        bytes <= most)
      return {};
  } catch (const CLI::ValidationError&) {  // said below in our words
  }
  return fmt::format("'{}' is not a message size; give 0 to 1G, such as 8, 1K or 4M", given);
}

void add_what(CLI::App& app, command_line& line) {
  spec& s = line.o.base;
  add_choice(app, "--op", s.op, operation_names(), "operation")->default_str(name_of(s.op));
  app.add_option("--sizes", line.o.sizes, "bytes, such as 8,1K,4M (default: 8, bandwidth 1M)")
      ->delimiter(',')
      ->transform(CLI::Validator(take_size, ""));
  app.add_option("--window", s.window, "operations in flight (default: 64, bandwidth 4)")
      ->check(CLI::Range(1, 4096));
  add_choice(app, "--target", s.target, target_names(),
             "what the target does during get and fetch-add: wait, or compute without any call")
      ->default_str("waiting");
  line.window_given = app.get_option("--window");
  line.buffers_given = add_choice(app, "--buffers", line.buffers, buffer_names(),
                                  "ordinary memory, or memory from world::allocate (default: "
                                  "exposed, bandwidth plain)");
}

void add_where(CLI::App& app, command_line& line) {
  options& o = line.o;
  app.add_option("--backend", o.backend, "wire; an error when the ranks are not connected so")
      ->check(CLI::IsMember({"auto", "shm", "tcp"}))
      ->capture_default_str();
  app.add_option("--ranks", o.ranks, "ranks to launch, or that the job must have; pairs work")
      ->check(CLI::Range(2, 1024))
      ->capture_default_str();
  app.add_option("--threads", o.base.threads, "threads per rank, each with a lane of its own")
      ->check(CLI::Range(1, max_threads))
      ->capture_default_str();
  app.add_flag("--shared-lane", o.base.shared_lane, "one lane for all threads of a rank");
  app.add_option("--bind", line.bind, "tie each thread of a rank to one core, or nothing")
      ->check(CLI::IsMember({"core", "none"}))
      ->capture_default_str();
}

void add_how(CLI::App& app, command_line& line) {
  options& o = line.o;
  app.add_option("--rounds", o.rounds, "rounds, each of everybody in turn")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--time-ms", line.time_ms, "length of one round")
      ->check(CLI::Range(1, 60'000))
      ->capture_default_str();
  add_rivals(app, o);
  app.add_option("--ucx-test", o.ucx_test, "ucx_perftest's test to compare with, if not its own");
  app.add_option("--json", o.json_file, "write an array of records");
}

void add_kind(CLI::App& bench, const std::string& name, kind what, const char* help, int& code) {
  auto line = std::make_shared<command_line>();
  line->o.base.what = what;
  line->o.base.op = default_operation(what);
  CLI::App& app = *bench.add_subcommand(name, help);
  add_what(app, *line);
  add_where(app, *line);
  add_how(app, *line);
  app.callback([line, &code] { code = measure(settle(*line)); });
}

void add_overlap(CLI::App& bench, int& code) {
  struct line {
    overlap_options o;
    int time_ms = 200;
    std::string bind = "none";
  };
  auto given = std::make_shared<line>();
  options& job = given->o.job;
  CLI::App& app = *bench.add_subcommand("overlap", "How much of a transfer hides behind computing");
  app.add_option("--sizes", job.sizes, "bytes, such as 8,1K,4M (default: 1M)")
      ->delimiter(',')
      ->transform(CLI::Validator(take_size, ""));
  app.add_option("--compute-us", given->o.compute_us, "microseconds of computing")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  add_choice(app, "--computing", given->o.who, computing_names(),
             "which side computes between posting and waiting")
      ->default_str("both");
  app.add_option("--backend", job.backend, "wire; an error when the ranks are not connected so")
      ->check(CLI::IsMember({"auto", "shm", "tcp"}))
      ->capture_default_str();
  app.add_option("--bind", given->bind, "tie each rank and its executor to one core, or nothing")
      ->check(CLI::IsMember({"core", "none"}))
      ->capture_default_str();
  app.add_option("--rounds", job.rounds, "rounds, each without and with computing")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--time-ms", given->time_ms, "length of one round")
      ->check(CLI::Range(1, 60'000))
      ->capture_default_str();
  add_rivals(app, job);
  app.add_option("--json", job.json_file, "write an array of records");
  app.callback([given, &code] {
    overlap_options& o = given->o;
    if (o.job.sizes.empty()) o.job.sizes = {std::uint64_t{1} << 20};
    o.job.base.time = std::chrono::milliseconds(given->time_ms);
    o.job.bind_cores = given->bind == "core";
    check_overlap_options(o);
    code = on_every_rank(o.job, [&] { run_overlap_in_job(o); });
  });
}

void add_table(CLI::App& bench, int& code) {
  auto o = std::make_shared<table_options>();
  CLI::App& app = *bench.add_subcommand("table", "every row of docs/performance.md, with goals");
  app.add_option("--rows", o->rows, "only rows with one of these in their names")->delimiter(',');
  app.add_option("--rounds", o->rounds, "rounds of each row")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--time-ms", o->time_ms, "length of one round")
      ->check(CLI::Range(1, 60'000))
      ->capture_default_str();
  app.add_option("--json", o->json_file, "write all records");
  app.add_option("--markdown", o->markdown_file, "write the table as Markdown");
  app.callback([o, &code] { code = run_table(*o); });
}

}  // namespace
}  // namespace heddle::bench

namespace heddle::tools {

void add_bench(CLI::App& app, int& exit_code) {
  using bench::kind;
  CLI::App& bench_command = *app.add_subcommand("bench", "Measure latency, bandwidth and rate");
  bench_command.footer(bench::details);
  bench_command.require_subcommand(1);
  bench::add_kind(bench_command, "latency", kind::latency, "Time of one operation at a time",
                  exit_code);
  bench::add_kind(bench_command, "bandwidth", kind::bandwidth, "Bytes per second of large ones",
                  exit_code);
  bench::add_kind(bench_command, "rate", kind::rate, "Operations per second, many in flight",
                  exit_code);
  bench::add_overlap(bench_command, exit_code);
  bench::add_table(bench_command, exit_code);
  bench::add_plot(bench_command, exit_code);
}

}  // namespace heddle::tools
