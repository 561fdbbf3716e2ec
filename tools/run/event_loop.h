// SPDX-License-Identifier: BSD-3-Clause
// event_loop.h - waits for descriptors and timers and calls who asked for them.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "bootstrap/launcher_protocol.h"  // unique_fd

namespace heddle::tools {

/// One thread. Handlers may call everything here but run_once.
class event_loop {
 public:
  using handler = std::function<void()>;

  event_loop();  ///< throws error

  /// Calls `ready` whenever `fd` has one of the EPOLL* `events`, an error or a hang-up. Returns
  /// false for a descriptor that cannot be waited for because it is always ready (a file).
  bool watch(int fd, std::uint32_t events, handler ready);
  void forget(int fd) noexcept;  ///< before closing it; nothing when not watched
  [[nodiscard]] bool watches(int fd) const noexcept { return handlers_.contains(fd); }

  /// Calls `due` once, `ms` milliseconds from now.
  void after(std::uint64_t ms, handler due);

  /// Waits until something happens and handles it.
  void run_once();

 private:
  [[nodiscard]] int wait_ms() const;
  void run_timers();

  unique_fd epoll_;
  std::map<int, std::shared_ptr<handler>> handlers_;
  std::multimap<std::uint64_t, handler> timers_;  ///< by due time, ms
};

}  // namespace heddle::tools
