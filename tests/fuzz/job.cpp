// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/job.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <heddle/info.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <thread>

#include "base/clock.h"
#include "base/error.h"
#include "fuzz/board.h"
#include "fuzz/plan_text.h"
#include "fuzz/rank.h"
#include "run/launcher.h"

namespace heddle::fuzz {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

/// A folder that goes away with this object.
class scratch {
 public:
  scratch() {
    std::string name = (fs::temp_directory_path() / "heddle-fuzz-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) fail_errno(errno, "make the folder {}", name);
    place_ = name;
  }
  ~scratch() {
    std::error_code ignored;
    fs::remove_all(place_, ignored);
  }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  [[nodiscard]] std::string file(const char* name) const { return (place_ / name).string(); }

 private:
  fs::path place_;
};

std::string text_of(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

[[noreturn]] void become_launcher(const plan& p, const scratch& at) {
  const int out = open(at.file("output").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int in = open("/dev/null", O_RDONLY);
  dup2(in, 0);
  dup2(out, 1);
  dup2(out, 2);
  tools::launch_options o;
  o.ranks = p.ranks;
  o.program = fs::read_symlink("/proc/self/exe").string();
  o.arguments = {"rank", at.file("plan"), at.file("board")};
  o.environment = {fmt::format("SOFTTOFU_JOB=fuzz-{}", getpid()),
                   fmt::format("SOFTHCA_JOB=fuzz-{}", getpid()), "MALLOC_PERTURB_=165"};
  o.keep_going = p.harsh();
  try {
    std::_Exit(tools::launch(o));
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    std::_Exit(99);
  }
}

/// Watches the board until the launcher has ended; true: nothing moved for too long. Time in which
/// ranks were ready to run and got no core does not count, up to a limit: they may be spinning.
class watch {
 public:
  static constexpr int most_patience = 10;
  watch(const plan& p, const board& facts, pid_t launcher)
      : plan_(p), facts_(facts), launcher_(launcher) {}

  bool until_silent(std::chrono::nanoseconds patience, int& status) {
    std::uint64_t last = 0;
    clock::time_point since = clock::now();
    constexpr std::chrono::nanoseconds unknown{-1};
    std::chrono::nanoseconds kept_before = unknown;  // half way
    while (waitpid(launcher_, &status, WNOHANG) == 0) {
      continue_the_stopped();
      note_the_starved();
      const clock::time_point now = clock::now();
      if (facts_.moves() != last) {
        since = now;
        kept_before = unknown;
      }
      last = facts_.moves();
      const auto quiet = now - since;
      if (quiet > patience / 2 && kept_before == unknown) kept_before = kept_from_cores();
      if (quiet > patience && (quiet - (kept_from_cores() - kept_before) > patience ||
                               quiet > most_patience * patience))
        return true;
      std::this_thread::sleep_for(1ms);
    }
    return false;
  }

  void end_job(int& status) const {
    kill(launcher_, SIGKILL);  // takes the ranks along
    waitpid(launcher_, &status, 0);
    for (int r = 0; r < plan_.ranks; ++r)
      if (const int pid = facts_.of_rank(r).pid; pid > 0) kill(pid, SIGKILL);
  }

  /// Who has not come to an end, at which step, and what the worlds wait for.
  [[nodiscard]] std::string whereabouts() const {
    std::string text;
    for (int r = 0; r < plan_.ranks; ++r) {
      if (facts_.of_rank(r).gone || facts_.of_rank(r).finished) continue;
      text += fmt::format("\n    rank {} has not ended", r);
      for (int t = 0; t < plan_.threads; ++t) {
        const int id = facts_.of_rank(r).doing[static_cast<std::size_t>(t)];
        const step* s = plan_.find(id);
        if (s != nullptr) text += fmt::format("\n    {}.{} is at '{}'", r, t, print(*s));
      }
    }
    try {
      for (const std::string& world : ask_worlds(launcher_)) text += "\n    waits: " + world;
    } catch (const error& e) {
      text += fmt::format("\n    nobody can be asked: {}", e.what());
    }
    return text;
  }

 private:
  using clock = std::chrono::steady_clock;

  /// What all threads of the ranks have waited on run queues, ever.
  [[nodiscard]] std::chrono::nanoseconds kept_from_cores() const {
    std::chrono::nanoseconds all{0};
    for (int r = 0; r < plan_.ranks; ++r) {
      std::error_code gone;
      const fs::path tasks = fmt::format("/proc/{}/task", static_cast<int>(facts_.of_rank(r).pid));
      for (fs::directory_iterator task(tasks, gone), end; !gone && task != end;
           task.increment(gone)) {
        std::uint64_t ran = 0, waited = 0;
        std::ifstream(task->path() / "schedstat") >> ran >> waited;
        all += std::chrono::nanoseconds(waited);
      }
    }
    return all;
  }

  /// Whom no memory is left for Heddle's own notes, the process ends: what errors.md allows.
  void note_the_starved() const {
    for (int r = 0; r < plan_.ranks; ++r) {
      rank_record& one = facts_.of_rank(r);
      if (one.finished || one.pid == 0 || plan_.value_of("ulimit_megabytes", r).empty()) continue;
      if (kill(one.pid, 0) == 0 || one.finished) continue;
      std::strncpy(one.failure.data(), "its memory gave out", one.failure.size() - 1);
      one.finished = true;
    }
  }

  void continue_the_stopped() const {
    bool all_over = true;
    for (int r = 0; r < plan_.ranks; ++r)
      all_over &= facts_.of_rank(r).gone || facts_.of_rank(r).finished;
    for (int r = 0; r < plan_.ranks; ++r) {
      rank_record& one = facts_.of_rank(r);
      const std::uint64_t at = one.wake_at;
      if (at != 0 && now_ns() > at) {
        kill(one.pid, SIGCONT);
        if (now_ns() > at + 1'000'000'000) one.wake_at = 0;
      }
      if (all_over && one.gone) kill(one.pid, SIGKILL);  // stopped for ever
    }
  }

  const plan& plan_;
  const board& facts_;
  const pid_t launcher_;
};

std::string indented(const std::string& text) {
  std::string made;
  for (const char c : text.substr(text.size() > 3000 ? text.size() - 3000 : 0)) {
    made += c;
    if (c == '\n') made += "    ";
  }
  return made;
}

/// Ranks that neither came to their end nor were meant to be lost.
bool crashed(const plan& p, const board& facts, int status, const std::string& output) {
  for (int r = 0; r < p.ranks; ++r)
    if (!facts.of_rank(r).gone && !facts.of_rank(r).finished) return true;
  if (!p.harsh()) return status != 0 && !(WIFEXITED(status) && WEXITSTATUS(status) == 1);
  bool starved = false;
  for (int r = 0; r < p.ranks; ++r) starved |= !p.value_of("ulimit_megabytes", r).empty();
  if (!starved && output.find("SIGABRT") != std::string::npos) return true;
  for (const char* signal : {"SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL"})
    if (output.find(signal) != std::string::npos) return true;
  return false;
}

}  // namespace

std::vector<finding> run_job(const plan& p, std::chrono::seconds patience) {
  const scratch at;
  std::ofstream(at.file("plan")) << print(p);
  const board facts(at.file("board"), p, true);
  std::fflush(nullptr);
  const pid_t launcher = fork();
  if (launcher < 0) fail_errno(errno, "fork");
  if (launcher == 0) become_launcher(p, at);
  watch watcher(p, facts, launcher);
  int status = 0;
  const bool silent = watcher.until_silent(patience, status);
  std::string where;
  if (silent) {
    where = watcher.whereabouts();
    watcher.end_job(status);
  }
  std::vector<finding> all = judge(p, facts);
  const std::string output = text_of(at.file("output"));
  if (silent)
    all.push_back({"silence", fmt::format("nothing ended for {} s:{}", patience.count(), where)});
  else if (crashed(p, facts, status, output))
    all.insert(all.begin(), {"crash", "a rank ended before its time"});
  if (!all.empty() && !output.empty()) all.back().text += "\n    " + indented(output);
  return all;
}

int be_rank(const std::string& plan_file, const std::string& board_file) {
  const plan p = read(text_of(plan_file));
  const board facts(board_file, p, false);
  return run_rank(p, facts);
}

}  // namespace heddle::fuzz
