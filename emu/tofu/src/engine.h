// SPDX-License-Identifier: BSD-3-Clause
// engine.h - a thread that executes what a process posts, for all its CQs: at once, or what has
// been left lying.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>

namespace tofu {

class cq;

/// Never destroyed: the thread runs until the process ends.
class engine {
 public:
  /// `pause_us`: between two rounds. Then serve() is to leave alone what was called since the last.
  explicit engine(unsigned pause_us) noexcept : pause_us_(pause_us) {}

  /// Serves `queue` from now on. Throws std::system_error when there can be no thread.
  void add(cq& queue);
  /// No longer; on return the thread does not look at it.
  void remove(cq& queue) noexcept;
  /// There is something to do.
  void wake() noexcept {
    // F1 pairs with F2: either we see that it sleeps, or it sees what was posted.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (asleep_.load(std::memory_order_relaxed) != 0) rouse();
  }

 private:
  static constexpr std::size_t most = 1024;
  void start();
  void run() noexcept;
  std::size_t serve_all() noexcept;
  void sleep() noexcept;
  void rouse() noexcept;

  const unsigned pause_us_;
  std::array<std::atomic<cq*>, most> queues_{};
  std::atomic<cq*> serving_{nullptr};
  std::atomic<unsigned> asleep_{0};
  bool running_ = false;  // guarded by the process's lock, as are add() and remove()
};

}  // namespace tofu
