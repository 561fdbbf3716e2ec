// SPDX-License-Identifier: BSD-3-Clause
// main.cpp - the fuzzer of the public API as a program: see docs/design/fuzzing.md.
#include <dlfcn.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/generate.h"
#include "fuzz/job.h"
#include "fuzz/minimise.h"
#include "fuzz/model.h"
#include "fuzz/plan_text.h"

namespace heddle::fuzz {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

/// The software card is there when it was preloaded.
devices devices_here() {
  devices here;
#ifdef HEDDLE_TESTS_UTOFU
  here.utofu = true;
#endif
  here.verbs = ::dlsym(RTLD_DEFAULT, "softhca_set_port") != nullptr;
  return here;
}

struct options {
  std::uint64_t seed = 1;
  double minutes = 1;
  int jobs = 0;
  int patience = 30;
  int minimise_seconds = 60;
  int times = 1;
  std::string sky, file;
  std::vector<std::string> left_out;  ///< verbs and mistakes
  wishes wanted;
};

/// The seed's plan, less what is known to fail and would hide the rest.
plan plan_of(std::uint64_t seed, const options& o) {
  plan p = generate(seed, o.wanted, devices_here());
  std::erase_if(p.steps, [&](const step& s) {
    const auto named = [&](std::string_view name) {
      return std::find(o.left_out.begin(), o.left_out.end(), name) != o.left_out.end();
    };
    return named(name_of(s.what)) ||
           (s.what == verb::mistake && named(name_of(static_cast<mistake>(s.op))));
  });
  return p;
}

std::chrono::seconds patience(const options& o) {
  return std::chrono::seconds(o.patience);
}

bool has(const std::vector<finding>& all, const std::string& kind) {
  for (const finding& f : all)
    if (f.kind == kind) return true;
  return false;
}

void tell(const std::vector<finding>& all) {
  for (const finding& f : all) fmt::print("  {}: {}\n", f.kind, f.text);
}

bool fails_again(const plan& p, const std::string& kind, int runs, const options& o) {
  for (int i = 0; i < runs; ++i)
    if (has(run_job(p, patience(o)), kind)) return true;
  return false;
}

/// The seldomer it fails, the more runs it takes to say that a shorter one does not.
int runs_needed(const plan& p, const std::string& kind, const options& o) {
  int failed = 0;
  for (int i = 0; i < 5; ++i) failed += fails_again(p, kind, 1, o) ? 1 : 0;
  return failed >= 4 ? 2 : failed >= 2 ? 6 : 15;
}

void tell_shortest(const plan& p, const std::string& kind, const options& o) {
  const int runs = runs_needed(p, kind, o);
  const auto end = clock::now() + std::chrono::seconds(o.minimise_seconds);
  const plan least = minimise(
      p, [&](const plan& less) { return fails_again(less, kind, runs, o); },
      [&] { return clock::now() > end; });
  fmt::print("cut down to {} steps; `api_fuzz run FILE` runs it again:\n{}", least.steps.size(),
             print(least));
}

/// How to run the same again.
std::string again(const plan& p, const options& o) {
  std::string text = fmt::format("api_fuzz seed {}", p.seed);
  if (!o.sky.empty()) text += " --weather " + o.sky;
  if (!o.wanted.wire.empty()) text += " --wire " + o.wanted.wire;
  for (const std::string& name : o.left_out) text += " --leave-out " + name;
  return text;
}

/// True: clean.
bool try_plan(const plan& p, const options& o) {
  const auto all = run_job(p, patience(o));
  if (all.empty()) return true;
  fmt::print("seed {} fails over {} in mode {}; `{}` runs it again:\n", p.seed, wire_of(p),
             p.value_of("HEDDLE_PROGRESS", 0), again(p, o));
  tell(all);
  if (o.minimise_seconds > 0) tell_shortest(p, all[0].kind, o);
  std::fflush(stdout);
  return false;
}

/// What a soak has done.
struct tally {
  int jobs = 0, failed = 0, harsh = 0;
  std::map<std::string, int> wires, modes;
  std::map<std::string_view, int> verbs;

  void add(const plan& p) {
    ++jobs;
    harsh += p.harsh() ? 1 : 0;
    ++wires[wire_of(p)];
    ++modes[p.value_of("HEDDLE_PROGRESS", 0)];
    for (const step& s : p.steps) verbs[name_of(s.what)] += s.rank == all_ranks ? p.ranks : 1;
  }
  template <class Map>
  static std::string line(const Map& counts) {
    std::string text;
    for (const auto& [name, n] : counts) text += fmt::format(" {} {}", n, name);
    return text;
  }
  void print() const {
    fmt::print("{} jobs, {} with findings; in {} a rank was lost or starved\n", jobs, failed,
               harsh);
    fmt::print("wires:{}\nmodes:{}\ncalls:{}\n", line(wires), line(modes), line(verbs));
  }
};

int soak(const options& o) {
  const auto end = clock::now() + std::chrono::duration<double>(o.minutes * 60);
  tally so_far;
  std::uint64_t seed = o.seed;
  while (o.jobs != 0 ? so_far.jobs < o.jobs : clock::now() < end) {
    const plan p = plan_of(seed++, o);
    so_far.add(p);
    if (!try_plan(p, o)) ++so_far.failed;
  }
  fmt::print("seeds {} to {}: ", o.seed, seed - 1);
  so_far.print();
  return so_far.failed == 0 ? 0 : 1;
}

int run_file(const options& o) {
  std::ifstream in(o.file);
  const plan p = read({std::istreambuf_iterator<char>(in), {}});
  if (const std::string why = why_not(p); !why.empty()) {
    fmt::print("not a program with one result: {}\n", why);
    return 2;
  }
  int failed = 0;
  for (int i = 0; i < o.times; ++i) {
    const auto all = run_job(p, patience(o));
    tell(all);
    failed += all.empty() ? 0 : 1;
  }
  fmt::print("{} of {} runs failed\n", failed, o.times);
  return failed == 0 ? 0 : 1;
}

std::optional<weather> weather_named(const std::string& name) {
  static const std::map<std::string, weather> names{{"fair", weather::fair},
                                                    {"stopped", weather::stopped},
                                                    {"deadly", weather::deadly},
                                                    {"poor", weather::poor}};
  if (name.empty()) return {};
  return names.at(name);
}

int command(int argc, char** argv) {
  CLI::App app("Random programs of Heddle's public API, run as jobs and checked against a model");
  app.require_subcommand(1);
  options o;
  const auto common = [&](CLI::App* c) {
    c->add_option("--weather", o.sky,
                  "What happens to ranks: fair, stopped, deadly or poor; else drawn")
        ->check(CLI::IsMember({"fair", "stopped", "deadly", "poor"}));
    c->add_option("--wire", o.wanted.wire, "Only this way from rank to rank")
        ->check(CLI::IsMember(wires(devices_here())));
    c->add_option("--leave-out", o.left_out,
                  "No such calls, or mistakes: to look behind what is known")
        ->allow_extra_args(false);
    c->add_option("--patience", o.patience, "Seconds without an end until a job counts as hanging")
        ->capture_default_str();
    c->add_option("--minimise", o.minimise_seconds, "Seconds for cutting down a failing program")
        ->capture_default_str();
  };
  CLI::App* many = app.add_subcommand("soak", "Runs one seed after the other");
  many->add_option("minutes", o.minutes)->capture_default_str();
  many->add_option("first", o.seed, "The first seed")->capture_default_str();
  many->add_option("--jobs", o.jobs, "So many jobs, whatever time they take");
  CLI::App* one = app.add_subcommand("seed", "Runs one seed");
  one->add_option("seed", o.seed)->required();
  CLI::App* show = app.add_subcommand("print", "Prints the program of a seed");
  show->add_option("seed", o.seed)->required();
  CLI::App* file = app.add_subcommand("run", "Runs a program from a file");
  file->add_option("file", o.file)->required()->check(CLI::ExistingFile);
  file->add_option("--times", o.times)->capture_default_str();
  for (CLI::App* c : {many, one, show, file}) common(c);
  CLI11_PARSE(app, argc, argv);
  o.wanted.sky = weather_named(o.sky);
  if (*many) return soak(o);
  if (*file) return run_file(o);
  const plan p = plan_of(o.seed, o);
  if (*one) return try_plan(p, o) ? 0 : 1;
  fmt::print("{}", print(p));
  return 0;
}

}  // namespace
}  // namespace heddle::fuzz

int main(int argc, char** argv) {
  try {
    if (argc == 4 && std::string_view(argv[1]) == "rank")
      return heddle::fuzz::be_rank(argv[2], argv[3]);
    return heddle::fuzz::command(argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 2;
  }
}
