// SPDX-License-Identifier: BSD-3-Clause
// pinning.h - which cores this process may use, and tying a thread to one of them.
#pragma once
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <future>
#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace heddle::bare {

/// Leaves the thread where the system puts it.
inline constexpr int any_core = -1;

/// Where the two sides of a measurement run.
struct core_pair {
  int first = any_core;
  int second = any_core;
};

/// The system's own form, which has no numbers from CPU_SETSIZE on.
[[nodiscard]] inline cpu_set_t set_of(std::span<const int> cores) noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(static_cast<unsigned>(core), &set);
  return set;
}
/// Ascending.
[[nodiscard]] inline std::vector<int> cores_in(const cpu_set_t& set) {
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  return cores;
}

/// The cores the calling thread may run on, ascending. Throws std::system_error.
[[nodiscard]] inline std::vector<int> allowed_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) {
    throw std::system_error(errno, std::generic_category(), "sched_getaffinity");
  }
  return cores_in(set);
}

/// Ties the calling thread, and threads it starts later, to these cores; empty or any_core: no-op.
/// Throws std::system_error naming the cores.
inline void pin_this_thread(std::span<const int> cores) {
  if (cores.empty() || std::ranges::find(cores, any_core) != cores.end()) return;
  const cpu_set_t set = set_of(cores);
  if (sched_setaffinity(0, sizeof set, &set) == 0) return;
  const int why = errno;
  std::string names;
  for (const int core : cores) names += ' ' + std::to_string(core);
  throw std::system_error(why, std::generic_category(), "pin a thread to core" + names);
}
inline void pin_this_thread(int core) {
  pin_this_thread(std::span(&core, 1));
}

/// A thread that runs `work` tied to `core`, one of allowed_cores(); `work` must not throw.
template <class F>
[[nodiscard]] std::jthread start_pinned(int core, F work) {
  return std::jthread([core, work = std::move(work)]() mutable {
    pin_this_thread(core);
    work();
  });
}

/// What `measure` answers, or throws, on a thread of its own tied to `core`.
template <class F>
[[nodiscard]] double on_core(int core, F measure) {
  std::packaged_task<double()> task(std::move(measure));
  start_pinned(core, [&task] { task(); }).join();
  return task.get_future().get();
}

}  // namespace heddle::bare
