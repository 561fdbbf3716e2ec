// SPDX-License-Identifier: BSD-3-Clause
// printed_lines.h - lines that another program prints into a pipe.
#pragma once
#include <functional>
#include <string>
#include <utility>

#include "bootstrap/launcher_protocol.h"  // unique_fd
#include "run/event_loop.h"

namespace heddle::tools {

/// One thread.
class printed_lines {
 public:
  /// Is called from the loop and from read() with each line, without its end; not with empty ones.
  /// One that is longer than 4 KiB may be left out.
  using taker = std::function<void(const std::string& line)>;

  /// `loop` must outlive it.
  printed_lines(event_loop& loop, unique_fd pipe, taker take);
  ~printed_lines();
  printed_lines(const printed_lines&) = delete;
  printed_lines& operator=(const printed_lines&) = delete;

  /// Takes what is there, before the loop comes to it. Behind the end of the pipe nothing is.
  void read();
  /// What has come of the line that has not ended is no part of it.
  void forget_begun() noexcept { begun_.clear(); }

 private:
  event_loop& loop_;
  unique_fd pipe_;
  const taker take_;
  std::string begun_;
};

}  // namespace heddle::tools
