// rank_main.cpp - one rank of a link test.
#include "linktest/rank_main.h"

#include <fmt/format.h>
#include <heddle/heddle.h>
#include <heddle/info.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>

#include "linktest/hdf5_file.h"
#include "linktest/json_file.h"
#include "linktest/lane_messenger.h"
#include "linktest/measure.h"
#include "linktest/output.h"
#include "linktest/progress.h"
#include "linktest/stop_signal.h"
#include "linktest/summary.h"
#include "linktest/terminal.h"
#include "standard_output.h"

namespace heddle::linktest {
namespace {

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point begin) {
  return std::chrono::duration<double>(clock::now() - begin).count();
}

std::uint64_t memory_here() {
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

/// An option that this job cannot honour, in words; empty when all can be. What is the same for all
/// ranks is said by rank 0.
std::string impossible_option(const options& chosen, const world& job) {
  const bool first = job.rank() == 0;
  if (first && chosen.ranks != 0 && chosen.ranks != job.size())
    return fmt::format("-n {} disagrees with this job of {} ranks: leave out -n", chosen.ranks,
                       job.size());
  if (first && job.size() < 2) return "a link has two ends: start at least 2 ranks";
  const std::uint64_t results_bytes = results::bytes(job.size(), chosen.sizes.size());
  if (first && results_bytes > memory_here())
    return fmt::format(
        "the results of {} ranks and {} sizes take {:.0f} GB of memory, and this host has {:.0f}: "
        "test fewer ranks or sizes at once",
        job.size(), chosen.sizes.size(), static_cast<double>(results_bytes) * 1e-9,
        static_cast<double>(memory_here()) * 1e-9);
  if (chosen.backend == "auto") return {};
  for (rank r = 0; r < job.size(); ++r) {
    if (r == job.rank() || job.route(r) == chosen.backend) continue;
    return fmt::format("--backend {} cannot be honoured: rank {} ({}) reaches rank {} ({}) over {}",
                       chosen.backend, job.rank(), job.host(job.rank()), r, job.host(r),
                       job.route(r));
  }
  return {};
}

run_facts facts_of(const options& chosen, const world& job) {
  run_facts facts;
  facts.chosen = chosen;
  facts.version = version();
  std::vector<std::string> names;
  std::vector<int> numbers;
  for (rank r = 0; r < job.size(); ++r) {
    names.push_back(job.host(r));
    numbers.push_back(job.host_number(r));
    if (r != job.rank()) facts.routes.push_back(job.route(r));
  }
  facts.hosts = tell_apart(names, numbers);
  std::sort(facts.routes.begin(), facts.routes.end());
  facts.routes.erase(std::unique(facts.routes.begin(), facts.routes.end()), facts.routes.end());
  return facts;
}

/// When a run began.
struct beginning {
  clock::time_point at = clock::now();
  std::string utc = utc_now();
};

/// One rank's side of talking to people and files: rank 0's, or when that is lost its successor's.
class reporter {
 public:
  reporter(const options& chosen, const world& job, const beginning& began)
      : began_(began.at),
        facts_(facts_of(chosen, job)),
        directory_(chosen.output, bytes_needed(job.size(), chosen.sizes.size())),
        display_(
            chosen.progress, chosen.width, [](std::string_view text) { tools::complain(text); },
            [begin = began_] { return seconds_since(begin); }) {
    facts_.started = began.utc;
  }

  void greet() const {
    if (!facts_.chosen.quiet) tools::print(describe_run(facts_));
  }

  void update(const progress& p) {
    last_ = p;
    display_.update(p);
  }

  int interrupted_by(int signal) {
    display_.finish();
    tools::complain(fmt::format(
        "linktest: interrupted after {:.0f} % ({} of {} turns) and {}; no files written\n",
        last_.units > 0
            ? 100.0 * static_cast<double>(last_.units_done) / static_cast<double>(last_.units)
            : 0.0,
        last_.units_done, last_.units, format_duration(seconds_since(began_))));
    return 128 + signal;
  }

  /// The files come first: whoever reads the output may hold it up.
  int finish(const results& all) {
    display_.finish();
    facts_.ended = utc_now();
    facts_.elapsed_s = seconds_since(began_);
    std::string where;
    try {
      where = write_files(all);
    } catch (...) {
      print_results(all);
      throw;
    }
    print_results(all);
    tools::print(where);
    return verdict_of(all);
  }

 private:
  void print_results(const results& all) const {
    const color_depth depth = choose_colors(facts_.chosen.color, false,
                                            [](const char* name) { return std::getenv(name); });
    if (!facts_.chosen.quiet) tools::print(fmt::format("\n{}\n", pictures(facts_, all, depth)));
    tools::print(figures(all));
    for (const std::string& part : {slowest_pairs(facts_, all), failures(facts_, all)})
      if (!part.empty()) tools::print(fmt::format("\n{}", part));
  }

  /// Returns the line that says where they are.
  std::string write_files(const results& all) {
    const std::string hdf5 = directory_.put(
        "linktest.h5", [&](const std::string& path) { write_hdf5(path, facts_, all); });
    const std::string json = directory_.put(
        "linktest.json", [&](const std::string& path) { write_text(path, to_json(facts_, all)); });
    return fmt::format("\nResults in {} and {}, measured in {}\n", hdf5, json,
                       format_duration(facts_.elapsed_s));
  }

  clock::time_point began_;
  run_facts facts_;
  output_directory directory_;
  progress_display display_;
  progress last_{};
};

/// This process's part in the job. Members are destroyed from the last to the first: the memory
/// before the world, and the completions that were given up after it.
class participant {
 public:
  explicit participant(const options& chosen)
      : chosen_(chosen),
        wire_(path_, std::chrono::nanoseconds(static_cast<std::int64_t>(chosen.timeout_s * 1e9)),
              given_up_),
        ranks_(wire_) {}

  int run() {
    if (!ready_everywhere()) return refusal_;
    region send = job_.allocate(chosen_.sizes.back());
    region receive = job_.allocate(receive_bytes(chosen_.kernel, chosen_.sizes));
    const run_result mine = measure(ranks_, chosen_, {send.memory(), receive.memory()},
                                    {[this](const progress& p) {
                                       if (report_) report_->update(p);
                                     },
                                     [] { return stop_signal::seen() != 0; }});
    const int status = mine.stopped ? stop() : conclude(mine.measured);
    leave_if_unsettled(status);
    return status;
  }

 private:
  [[nodiscard]] bool first() const noexcept { return job_.rank() == 0; }

  /// Whether no rank has a reason not to start. The reasons have been printed where they arose.
  bool ready_everywhere() {
    std::uint32_t notes = nothing_special;
    if (const std::string why = impossible_option(chosen_, job_); !why.empty()) {
      tools::complain(fmt::format("heddle linktest: {}\n", why));
      notes = cannot_start;
    } else if (first()) {
      try {
        report_.emplace(chosen_, job_, began_);
        report_->greet();
      } catch (const error& problem) {
        tools::complain(fmt::format("heddle linktest: {}\n", problem.what()));
        notes = cannot_start;
        refusal_ = failed;
      }
    }
    const bool ready = (ranks_.meet(notes) & cannot_start) == 0;
    if (!first()) refusal_ = success;  // rank 0's status speaks for the job
    return ready;
  }

  int stop() {
    const int signal = stop_signal::seen();
    constexpr int interrupt = 2;
    return report_ ? report_->interrupted_by(signal == 0 ? interrupt : signal) : 0;
  }

  int conclude(const row& mine) {
    results all(job_.size(), chosen_.kernel, chosen_.sizes);
    const gathered got = gather_rows(ranks_, mine, all);
    ranks_.meet(nothing_special);
    if (got.rows == gathered::place::elsewhere) return success;
    if (got.rows == gathered::place::here && (first() || may_take_over(got))) return report(all);
    tools::complain(fmt::format(
        "heddle linktest: rank {} cannot reach the others any more; its results are lost\n",
        job_.rank()));
    return incomplete;
  }

  /// Who was cut off from all others must not write over the results that they have.
  [[nodiscard]] bool may_take_over(const gathered& got) const {
    return got.heard > 0 || !std::filesystem::exists(chosen_.output + "/linktest.json");
  }

  int report(const results& all) {
    if (!report_) {
      tools::complain(fmt::format("heddle linktest: rank 0 is lost; rank {} writes the results\n",
                                  job_.rank()));
      report_.emplace(chosen_, job_, began_);
    }
    return report_->finish(all);
  }

  /// An operation that was given up and never ended may still write to our memory: then the process
  /// ends here, without taking that memory apart.
  void leave_if_unsettled(int status) {
    if (given_up_.settled()) return;
    report_.reset();
    std::_Exit(tools::finish_output(status));
  }

  const options& chosen_;
  beginning began_;
  abandoned given_up_;
  world job_;
  lane path_{job_};
  lane_messenger wire_;
  meeting ranks_;
  std::optional<reporter> report_;
  int refusal_ = bad_usage;
};

}  // namespace

int run_rank(options chosen) {
  tools::outlive_readers();
  const stop_signal watching;
  if (chosen.backend != "auto") setenv("HEDDLE_BACKENDS", chosen.backend.c_str(), 1);
  chosen = resolve_terminal(std::move(chosen));
  if (chosen.output.empty()) chosen.output = default_output();
  std::optional<participant> self;
  try {
    self.emplace(chosen);
  } catch (const error& why) {
    if (chosen.backend == "auto") throw;
    tools::complain(
        fmt::format("heddle linktest: with --backend {}: {}\n", chosen.backend, why.what()));
    return bad_usage;
  }
  return self->run();
}

}  // namespace heddle::linktest
