// SPDX-License-Identifier: BSD-3-Clause
#include "run/printed_lines.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>

namespace heddle::tools {

printed_lines::printed_lines(event_loop& loop, unique_fd pipe, taker take)
    : loop_(loop), pipe_(std::move(pipe)), take_(std::move(take)) {
  fcntl(pipe_.get(), F_SETFL, O_NONBLOCK);
  loop_.watch(pipe_.get(), EPOLLIN, [this] { read(); });
}

printed_lines::~printed_lines() {
  if (pipe_) loop_.forget(pipe_.get());
}

void printed_lines::read() {
  if (!pipe_) return;
  std::array<char, 65536> buffer;  // all that a pipe holds
  const ssize_t got = ::read(pipe_.get(), buffer.data(), buffer.size());
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got <= 0) {
    loop_.forget(pipe_.get());
    pipe_.reset();
    begun_ += '\n';
  } else {
    begun_.append(buffer.data(), static_cast<std::size_t>(got));
  }
  for (std::size_t end = 0; (end = begun_.find('\n')) != std::string::npos;) {
    std::string line = begun_.substr(0, end);
    begun_.erase(0, end + 1);
    while (!line.empty() && line.back() == '\r') line.pop_back();
    if (!line.empty()) take_(line);
  }
  constexpr std::size_t longest_line = 4096;
  if (begun_.size() > longest_line) begun_.clear();
}

}  // namespace heddle::tools
