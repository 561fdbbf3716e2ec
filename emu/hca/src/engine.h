// SPDX-License-Identifier: BSD-3-Clause
// engine.h - executes what could not be executed by the call that posted it: because a receive is
// missing or the peer is not ready, or because the mode says so.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace hca {

class qp;

/// One of a process. Its thread starts with the first queue pair that is added, sleeps while there
/// are none, and runs until the process ends.
class engine {
 public:
  /// `one` has work requests to execute. Any thread, as all of these.
  void add(const std::shared_ptr<qp>& one);
  /// Serves the queue pairs once, unless somebody does already.
  void serve();
  /// Whether any is waiting to be served.
  [[nodiscard]] bool is_busy() const noexcept {
    return count_.load(std::memory_order_relaxed) != 0;  // relaxed: a hint
  }

 private:
  void start();
  void run();
  bool serve_held();

  std::mutex serving_;  // held while queue pairs are served
  std::mutex mutex_;    // guards all below
  std::condition_variable work_;
  std::vector<std::shared_ptr<qp>> waiting_;
  std::atomic<std::size_t> count_{0};
  bool running_ = false;
};

}  // namespace hca
