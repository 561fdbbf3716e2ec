// SPDX-License-Identifier: BSD-3-Clause
// process_pair.h - two ranks where the rival's library has no launcher of its own.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "parts/system.h"

namespace heddle::bench {

/// This process and the one it forks into, joined by a socket: nobody needs a launcher.
class process_pair {
 public:
  process_pair();
  ~process_pair();  ///< rank 0 waits for the other one
  [[nodiscard]] int rank() const noexcept { return child_ == 0 ? 1 : 0; }

  /// Before an end that the other rank does not expect: it learns of that by the socket's.
  void abandon() noexcept {}

  /// As many bytes as the other rank hears. Throws std::runtime_error when it is gone.
  void tell(std::span<const std::byte> bytes) const;
  /// Takes what has come, from the beginning of `bytes` on; returns the rest of it. Does not wait.
  [[nodiscard]] std::span<std::byte> hear_some(std::span<std::byte> bytes) const;
  /// Waits for all of it, asleep.
  void hear(std::span<std::byte> bytes) const;

 private:
  bare::unique_fd socket_;
  int child_ = 0;
};

}  // namespace heddle::bench
