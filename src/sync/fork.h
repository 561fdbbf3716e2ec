// fork.h - whether this process is the child of a fork: what it inherited then is its parent's.
#pragma once
#include <atomic>

namespace heddle::sync {

/// From now on forks are noticed. Any thread, any number of times.
void watch_forks() noexcept;

namespace detail {
[[gnu::visibility("hidden")]] extern constinit std::atomic<bool> in_child;
}

/// True in every child of a process that had called watch_forks(). One load: no system call.
[[nodiscard]] inline bool forked() noexcept {
  // Relaxed: set before the child's only thread returns from fork().
  return detail::in_child.load(std::memory_order_relaxed);
}

/// Throws error in such a child, before anything of its parent's is touched by `what`.
void refuse_in_child(const char* what);

}  // namespace heddle::sync
