// bench.cpp - the command line of `heddle bench`, and of latency, bandwidth, rate and table. The
// other benchmarks have theirs beside them.
#include <memory>

#include "bench/adaptive.h"
#include "bench/background.h"
#include "bench/command.h"
#include "bench/convolution.h"
#include "bench/gups.h"
#include "bench/multithreaded.h"
#include "bench/overhead.h"
#include "bench/overlap.h"
#include "bench/plot_command.h"
#include "bench/run.h"
#include "bench/table.h"
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
  heddle bench plot results/bench --out figures --format png,pdf)";

/// What the parser fills in; defaults that depend on the subcommand are settled afterwards.
struct command_line {
  options o;
  buffer_kind buffers = buffer_kind::plain;
  const CLI::Option* buffers_given = nullptr;
  const CLI::Option* window_given = nullptr;
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
  return o;
}

void add_what(CLI::App& app, command_line& line) {
  spec& s = line.o.base;
  add_choice(app, "--op", s.op, operation_names(), "operation")->default_str(name_of(s.op));
  add_sizes(app, line.o.sizes, "bytes, such as 8,1K,4M (default: 8, bandwidth 1M)");
  line.window_given =
      app.add_option("--window", s.window, "operations in flight (default: 64, bandwidth 4)")
          ->check(CLI::Range(1, 4096));
  add_choice(app, "--target", s.target, target_names(),
             "what the target does during get and fetch-add: wait, or compute without any call")
      ->default_str("waiting");
  line.buffers_given = add_choice(app, "--buffers", line.buffers, buffer_names(),
                                  "ordinary memory, or memory from world::allocate (default: "
                                  "exposed, bandwidth plain)");
}

void add_kind(CLI::App& bench, const std::string& name, kind what, const char* help, int& code) {
  auto line = std::make_shared<command_line>();
  options& o = line->o;
  o.benchmark = name;
  o.base.what = what;
  o.base.op = default_operation(what);
  CLI::App& app = *bench.add_subcommand(name, help);
  add_what(app, *line);
  add_job(app, o);
  add_thread_counts(app, o);
  add_lanes(app, o);
  add_lane_lock(app, o);
  add_rivals(app, o);
  app.add_option("--ucx-test", o.ucx_test, "ucx_perftest's test to compare with, if not its own");
  app.callback([line, &code] { code = measure(settle(*line)); });
}

void add_table(CLI::App& bench, int& code) {
  auto o = std::make_shared<table_options>();
  CLI::App& app = *bench.add_subcommand("table", "every row of docs/performance.md, with goals");
  app.add_option("--rows", o->rows, "only rows with one of these in their names")->delimiter(',');
  const auto set_backend = [o](const std::string& name) { o->over_utofu = name == "utofu"; };
  app.add_option_function<std::string>(
         "--backend", set_backend, "utofu: the rows over uTofu instead of those over shm and tcp")
      ->check(CLI::IsMember({"utofu"}));
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
  bench::add_multithreaded(bench_command, exit_code);
  bench::add_overhead(bench_command, exit_code);
  bench::add_overlap(bench_command, exit_code);
  bench::add_adaptive(bench_command, exit_code);
  bench::add_background(bench_command, exit_code);
  bench::add_convolution(bench_command, exit_code);
  bench::add_gups(bench_command, exit_code);
  bench::add_table(bench_command, exit_code);
  bench::add_plot(bench_command, exit_code);
}

}  // namespace heddle::tools
