// stdin_relay.h - carries what is typed at a terminal to rank 0.
//
// Ranks run in process groups of their own, which may not read the terminal; the launcher may.
#pragma once
#include <string>

#include "bootstrap/launcher_protocol.h"  // unique_fd
#include "run/event_loop.h"

namespace heddle::tools {

/// One thread. While the launcher itself is in the background, nothing is read.
class stdin_relay {
 public:
  explicit stdin_relay(event_loop& loop);  ///< throws error
  ~stdin_relay();
  stdin_relay(const stdin_relay&) = delete;
  stdin_relay& operator=(const stdin_relay&) = delete;

  [[nodiscard]] int read_end() const noexcept { return read_end_.get(); }
  /// Rank 0 has its copy of read_end().
  void started();
  /// The launcher may be in the foreground again (SIGCONT).
  void resume();

 private:
  void read_terminal();
  void write_rank();
  void stop();

  event_loop& loop_;
  unique_fd read_end_, write_end_;
  std::string pending_;
};

}  // namespace heddle::tools
