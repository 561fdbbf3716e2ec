// SPDX-License-Identifier: BSD-3-Clause
#include "run/rank_input.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>

#include "run/failure.h"

namespace heddle::tools {

rank_input::rank_input(event_loop& loop, std::function<void()> written)
    : loop_(loop), written_(std::move(written)) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail_errno(errno, "make a pipe");
  read_end_.reset(ends[0]);
  write_end_.reset(ends[1]);
  fcntl(write_end_.get(), F_SETFL, O_NONBLOCK);
}

void rank_input::write(std::string_view piece) {
  if (!write_end_ || piece.empty()) return;
  pending_ += piece;
  loop_.watch(write_end_.get(), EPOLLOUT, [this] { write_some(); });
}

void rank_input::end() {
  ending_ = true;
  if (pending_.empty()) close();
}

void rank_input::close() {
  if (write_end_) loop_.forget(write_end_.get());
  write_end_.reset();
  pending_.clear();
}

void rank_input::write_some() {
  const ssize_t written = ::write(write_end_.get(), pending_.data(), pending_.size());
  if (written < 0 && errno != EAGAIN && errno != EINTR) return close();  // rank 0 reads no more
  if (written > 0) pending_.erase(0, static_cast<std::size_t>(written));
  if (!pending_.empty()) return;
  loop_.forget(write_end_.get());
  if (ending_) return close();
  written_();
}

}  // namespace heddle::tools
