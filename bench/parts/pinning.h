// SPDX-License-Identifier: BSD-3-Clause
// pinning.h - which cores this process may use, and tying a thread to one of them.
#pragma once
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

}  // namespace heddle::bare
