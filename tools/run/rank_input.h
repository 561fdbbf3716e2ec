// SPDX-License-Identifier: BSD-3-Clause
// rank_input.h - a pipe into rank 0, which may read as slowly as it likes.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "bootstrap/launcher_protocol.h"  // unique_fd
#include "run/event_loop.h"

namespace heddle::tools {

/// One thread.
class rank_input {
 public:
  /// `written` is called when a piece is in the pipe as a whole, never from inside write(). Throws
  /// error.
  rank_input(event_loop& loop, std::function<void()> written);
  ~rank_input() { close(); }
  rank_input(const rank_input&) = delete;
  rank_input& operator=(const rank_input&) = delete;

  [[nodiscard]] int read_end() const noexcept { return read_end_.get(); }
  /// The rank has its copy of read_end().
  void started() { read_end_.reset(); }
  /// The next piece. Dropped when the rank reads no more; `written` is not called then.
  void write(std::string_view piece);
  /// Nothing more comes after what was written.
  void end();

 private:
  void write_some();
  void close();

  event_loop& loop_;
  std::function<void()> written_;
  unique_fd read_end_, write_end_;
  std::string pending_;
  bool ending_ = false;
};

}  // namespace heddle::tools
