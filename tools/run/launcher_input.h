// SPDX-License-Identifier: BSD-3-Clause
// launcher_input.h - reads what the launcher is given to read, for rank 0.
#pragma once
#include <functional>
#include <string_view>
#include <utility>

#include "run/event_loop.h"

namespace heddle::tools {

/// Takes standard input in pieces, one at a time. Ranks run in process groups of their own, which
/// may not read the terminal; the launcher may. While the launcher itself is in the background,
/// nothing is read from it. One thread.
class launcher_input {
 public:
  /// Each piece (4 KiB at most) goes to `take`; an empty one is the end of the input.
  launcher_input(event_loop& loop, std::function<void(std::string_view)> take)
      : loop_(loop), take_(std::move(take)) {}
  ~launcher_input() { stop(); }
  launcher_input(const launcher_input&) = delete;
  launcher_input& operator=(const launcher_input&) = delete;

  /// Whoever got a piece is ready for another one. The first time: to be called once by the owner.
  void next();
  /// The launcher may be in the foreground again (SIGCONT).
  void resume();
  /// Nobody reads it any more.
  void stop();

 private:
  void read_some();

  event_loop& loop_;
  std::function<void(std::string_view)> take_;
  bool wanted_ = false, over_ = false;
};

}  // namespace heddle::tools
