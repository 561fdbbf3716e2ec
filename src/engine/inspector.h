// SPDX-License-Identifier: BSD-3-Clause
// inspector.h - answers whoever asks a running process what it waits for (`heddle info --pid`).
//
// A thread that sleeps in accept() on a socket in the abstract namespace, heddle-PID-RANK-SIZE: it
// needs neither the program nor an executor, any of which may be what hangs, leaves no file behind,
// and touches no lane until it is asked. Other users' processes can connect, but are told nothing.
#pragma once
#include <functional>
#include <string>
#include <thread>

#include "base/fd.h"

namespace heddle::engine {

class inspector {
 public:
  /// `report` is called on the inspector's thread. Where there is no socket or thread to be had, or
  /// another world of this process has the name, nobody can ask, and that is all.
  inspector(int rank, int size, std::function<std::string()> report);
  ~inspector();
  inspector(const inspector&) = delete;
  inspector& operator=(const inspector&) = delete;

  /// Nobody is answered any more; idempotent.
  void stop() noexcept;

 private:
  void run() noexcept;
  void answer(int asker) noexcept;

  const std::function<std::string()> report_;
  unique_fd socket_;
  std::thread thread_;
};

}  // namespace heddle::engine
