// task.cpp - the command line that all peer programs have.
#include "peers/task.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <set>
#include <string>

#include "parts/pinning.h"

namespace heddle::peers {
namespace {

constexpr const char* about =
    "Measures a rival of Heddle by the definitions of `heddle bench`, which runs this program; "
    "prints a line of JSON for each round. See docs/performance.md.";

template <class E>
CLI::Option* add_choice(CLI::App& app, const char* name, E& into,
                        const std::map<std::string, E>& names) {
  std::set<std::string> known;
  for (const auto& [text, value] : names) known.insert(text);
  const auto set = [&into, &names](const std::string& chosen) { into = names.at(chosen); };
  return app.add_option_function<std::string>(name, set)->check(CLI::IsMember(known));
}

void add_measure(CLI::App& app, task& t) {
  const auto set = [&t](const std::string& chosen) {
    t.overlap = chosen == "overlap";
    t.gups = chosen == "gups";
    if (!t.overlap && !t.gups) t.what.what = bench::kind_names().at(chosen);
  };
  app.add_option_function<std::string>("measure", set, "latency, rate, bandwidth, overlap or gups")
      ->required()
      ->check(CLI::IsMember({"latency", "rate", "bandwidth", "overlap", "gups"}));
  add_choice(app, "--op", t.what.op, bench::operation_names())->required();
}

void add_numbers(CLI::App& app, task& t, int& time_ms) {
  app.add_option("--bytes", t.what.bytes, "of a message")->check(CLI::Range(0u, 1u << 30));
  app.add_option("--threads", t.what.threads, "of a rank")->check(CLI::Range(1, 256));
  app.add_option("--paths", t.paths,
                 "communicators or workers, shared by neighbouring threads; 0: one per thread");
  app.add_option("--window", t.what.window, "operations in flight per thread")
      ->check(CLI::Range(1, 4096));
  app.add_option("--time-ms", time_ms, "of a round")->check(CLI::Range(1, 60'000));
  app.add_option("--rounds", t.rounds)->check(CLI::Range(1, 1000));
  app.add_option("--limit-s", t.limit_s, "the program is killed after as many seconds");
  app.add_option("--cores", t.cores, "that both ranks may use together")->delimiter(',');
  app.add_option("--compute-us", t.compute_us, "overlap: microseconds of computing");
  add_choice(app, "--computing", t.who, bench::computing_names());
  app.add_option("--memory", t.memory_bytes, "gups: bytes of a rank")
      ->check(CLI::Range(std::uint64_t{16}, std::uint64_t{1} << 34));
  app.add_flag("--atomic", t.atomic, "gups: one remote xor instead of get, xor, put");
}

}  // namespace

task parse(int argc, char** argv) {
  task t;
  int time_ms = 200;
  CLI::App app(about);
  add_measure(app, t);
  add_numbers(app, t, time_ms);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& end) {
    std::exit(app.exit(end));
  }
  t.what.time = std::chrono::milliseconds(time_ms);
  if (t.paths < 1 || t.paths > t.what.threads) t.paths = t.what.threads;
  return t;
}

void settle_in(const task& t, int rank) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  alarm(static_cast<unsigned>(t.limit_s));
  if (!t.cores.empty()) {
    bare::pin_this_thread(bench::cores_of_rank(t.cores, rank, 2, t.what.threads));
  }
}

}  // namespace heddle::peers
