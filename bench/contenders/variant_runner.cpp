// SPDX-License-Identifier: BSD-3-Clause
// variant_runner.cpp - the command line of such a job, and what it wrote.
#include "contenders/variant_runner.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>

#include "contenders/peer_command.h"
#include "harness/scratch_folder.h"

namespace heddle::bench {
namespace {

namespace fs = std::filesystem;

fs::path records_in(const std::string& scratch) {
  return fs::path(scratch) / "round.json";
}

/// What is measured, in the words of `heddle bench`.
std::vector<std::string> what_words(const rival_task& t) {
  const spec& s = t.what;
  std::vector<std::string> words{name_of(s.what)};
  const auto add = [&words](const char* option, const std::string& value) {
    words.insert(words.end(), {option, value});
  };
  if (s.what == kind::gups) add("--memory", std::to_string(s.memory_bytes));
  if (s.what == kind::gups && s.atomic) words.emplace_back("--atomic");
  if (s.what == kind::gups || s.what == kind::rate || s.what == kind::bandwidth)
    add("--window", std::to_string(s.window));
  if (s.what != kind::gups) add("--sizes", std::to_string(s.bytes));
  if (s.what == kind::gups || s.what == kind::overhead) return words;
  add("--op", name_of(s.op));
  add("--buffers", name_of(s.buffers));
  add("--target", name_of(s.target));
  return words;
}

/// With the cores of the whole job, not only those of the thread that starts it.
std::unique_ptr<child> start(const command& c, const std::vector<int>& cores) {
  const std::vector<int> mine = bare::allowed_cores();
  bare::pin_this_thread(cores);
  auto started = std::make_unique<child>(c);
  bare::pin_this_thread(mine);
  return started;
}

class variant_runner final : public rival_runner {
 public:
  variant_runner(rival who, rival_task t) : who_(who), task_(std::move(t)) {}

  std::vector<double> next() override {
    const scratch_folder scratch;
    const auto program = start(variant_command(who_, task_, scratch.path()), task_.cores);
    const bool ended = program->wait_until(std::chrono::steady_clock::now() + limit_of(task_));
    if (!ended || program->exit_status() != 0) {
      throw rival_failure(how_it_failed(who_, task_, *program, ended));
    }
    return figures_in(read_records(records_in(scratch.path())), task_.what);
  }

 private:
  rival who_;
  rival_task task_;
};

}  // namespace

bool is_variant(rival who) noexcept {
  return who == rival::lock || who == rival::uncached || who == rival::unloaded;
}

command variant_command(rival who, const rival_task& t, const std::string& scratch) {
  command c{.program = fs::read_symlink("/proc/self/exe"), .arguments = {"bench"}};
  const auto add = [&c](const std::vector<std::string>& more) {
    c.arguments.insert(c.arguments.end(), more.begin(), more.end());
  };
  add(what_words(t));
  add({"--backend", t.backend, "--threads", std::to_string(t.what.threads)});
  if (t.what.lanes > 0) add({"--lanes", std::to_string(t.what.lanes)});
  add({"--bind", t.cores.empty() ? "none" : "core", "--rounds", "1", "--time-ms",
       std::to_string(t.what.time.count()), "--json", records_in(scratch).string()});
  c.without = {"HEDDLE_BOOT_FD", "HEDDLE_RANK", "HEDDLE_SIZE", "SOFTTOFU_JOB"};  // this job's
  c.settings = {"SOFTTOFU_JOB=" + fs::path(scratch).filename().string(), "HEDDLE_BOOT=alone"};
  if (who == rival::lock) add({"--lock-lanes"});
  if (who == rival::uncached) c.settings.emplace_back("HEDDLE_RCACHE=off");
  c.end_signal = SIGTERM;  // so that its ranks end with it
  c.own_group = true;
  return c;
}

std::vector<double> figures_in(const std::vector<record>& records, const spec& s) {
  std::vector<double> figures;
  for (const metric& m : metrics_of(s)) {
    const auto found = std::find_if(records.begin(), records.end(), [&m](const record& r) {
      return r.library == "heddle" && r.metric == m.name;
    });
    if (found == records.end()) throw rival_failure(fmt::format("its records have no {}", m.name));
    figures.push_back(found->median);
  }
  return figures;
}

std::unique_ptr<rival_runner> make_variant_runner(rival who, const rival_task& t) {
  return std::make_unique<variant_runner>(who, t);
}

}  // namespace heddle::bench
