// SPDX-License-Identifier: BSD-3-Clause
// pinning.h - which cores this process may use, and tying a thread to one of them.
#pragma once
#include <sched.h>

#include <future>
#include <span>
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
[[nodiscard]] cpu_set_t set_of(std::span<const int> cores) noexcept;
/// Ascending.
[[nodiscard]] std::vector<int> cores_in(const cpu_set_t& set);

/// The cores the calling thread may run on, ascending. Throws std::system_error.
[[nodiscard]] std::vector<int> allowed_cores();

/// Ties the calling thread, and threads it starts later, to these cores; empty or any_core: no-op.
/// Throws std::system_error naming the cores.
void pin_this_thread(std::span<const int> cores);
void pin_this_thread(int core);

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
