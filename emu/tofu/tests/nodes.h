// SPDX-License-Identifier: BSD-3-Clause
// nodes.h - tests over several processes: each one a node of a machine of its own.
#pragma once
#include <glob.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utofu.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace nodes {

/// Memory that all processes of a test see: to meet, and to tell each other ids and addresses.
class board {
 public:
  std::array<std::atomic<std::uint64_t>, 256> words{};

  /// Waits until `count` processes are here.
  void meet(unsigned count) {
    const unsigned round = arrived_.fetch_add(1) / count;
    while (arrived_.load() / count == round) sched_yield();
  }

 private:
  std::atomic<unsigned> arrived_{0};
};

using knobs = std::vector<std::pair<std::string, std::string>>;
using body = std::function<void(unsigned me, board& all)>;

inline board& make_board() {
  void* const at =
      mmap(nullptr, sizeof(board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return *new (at) board;
}

/// A machine name nobody else uses.
inline std::string fresh_job() {
  static int jobs = 0;
  return "test." + std::to_string(getpid()) + "." + std::to_string(jobs++);
}

inline void set_knobs(const std::string& job, const knobs& set) {
  setenv("SOFTTOFU_JOB", job.c_str(), 1);
  for (const auto& [name, value] : set) setenv(("SOFTTOFU_" + name).c_str(), value.c_str(), 1);
}

/// Forks a process that runs `f` and ends with its verdict. The parent must not use the device.
inline pid_t start(const std::function<void()>& f) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child != 0) return child;
  f();
  std::exit(testing::Test::HasFailure() ? 1 : 0);
}

/// The files that are or were the machine of a job.
inline std::vector<std::string> machine_files(const std::string& job) {
  glob_t found{};
  const std::string name = "/dev/shm/softtofu." + std::to_string(geteuid()) + "." + job + ".*";
  std::vector<std::string> files;
  if (glob(name.c_str(), 0, nullptr, &found) == 0) {
    files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  globfree(&found);
  return files;
}

/// Removes the machine of processes that did not leave it.
inline void remove_machine(const std::string& job) {
  for (const std::string& file : machine_files(job)) unlink(file.c_str());
}

/// What became of it: its exit status, or minus the signal.
inline int outcome(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/// Runs `f` in `count` processes, process i on node SOFTTOFU_NODE=i unless the knobs say otherwise.
inline void run(unsigned count, const knobs& set, const body& f) {
  board& all = make_board();
  const std::string job = fresh_job();
  std::vector<pid_t> children;
  for (unsigned me = 0; me < count; ++me) {
    children.push_back(start([&] {
      set_knobs(job, {{"NODE", std::to_string(me)}});
      set_knobs(job, set);
      f(me, all);
    }));
  }
  for (unsigned me = 0; me < count; ++me) EXPECT_EQ(outcome(children[me]), 0) << "process " << me;
  munmap(&all, sizeof all);
}

/// The same with one process.
inline void alone(const knobs& set, const std::function<void()>& f) {
  run(1, set, [&](unsigned, board&) { f(); });
}

}  // namespace nodes
