// SPDX-License-Identifier: BSD-3-Clause
#include "run/launcher_input.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace heddle::tools {

void launcher_input::next() {
  wanted_ = true;
  resume();
}

void launcher_input::resume() {
  if (over_ || !wanted_) return;
  if (loop_.watch(STDIN_FILENO, EPOLLIN, [this] { read_some(); })) return;
  loop_.after(0, [this] { read_some(); });  // a file can always be read
}

void launcher_input::stop() {
  over_ = true;
  loop_.forget(STDIN_FILENO);
}

void launcher_input::read_some() {
  if (over_ || !wanted_) return;
  std::array<char, 4096> buffer;
  const ssize_t got = read(STDIN_FILENO, buffer.data(), buffer.size());
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return resume();
  if (got < 0 && errno == EIO) return loop_.forget(STDIN_FILENO);  // in the background
  wanted_ = false;
  loop_.forget(STDIN_FILENO);
  if (got <= 0) stop();
  take_({buffer.data(), static_cast<std::size_t>(got > 0 ? got : 0)});
}

}  // namespace heddle::tools
