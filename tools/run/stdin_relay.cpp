#include "run/stdin_relay.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "run/failure.h"

namespace heddle::tools {

stdin_relay::stdin_relay(event_loop& loop) : loop_(loop) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail_errno(errno, "make a pipe");
  read_end_.reset(ends[0]);
  write_end_.reset(ends[1]);
  fcntl(write_end_.get(), F_SETFL, O_NONBLOCK);
}

stdin_relay::~stdin_relay() {
  stop();
}

void stdin_relay::started() {
  read_end_.reset();
  resume();
}

void stdin_relay::resume() {
  if (!write_end_ || !pending_.empty()) return;
  loop_.watch(STDIN_FILENO, EPOLLIN, [this] { read_terminal(); });
}

void stdin_relay::stop() {
  loop_.forget(STDIN_FILENO);
  if (write_end_) loop_.forget(write_end_.get());
  write_end_.reset();
}

void stdin_relay::read_terminal() {
  std::array<char, 4096> buffer;
  const ssize_t got = read(STDIN_FILENO, buffer.data(), buffer.size());
  if (got < 0 && errno == EINTR) return;
  if (got < 0 && errno == EIO) return loop_.forget(STDIN_FILENO);  // in the background
  if (got <= 0) return stop();
  pending_.assign(buffer.data(), static_cast<std::size_t>(got));
  loop_.forget(STDIN_FILENO);
  write_rank();
}

void stdin_relay::write_rank() {
  const ssize_t written = write(write_end_.get(), pending_.data(), pending_.size());
  if (written < 0 && errno != EAGAIN && errno != EINTR) return stop();  // rank 0 reads no more
  if (written > 0) pending_.erase(0, static_cast<std::size_t>(written));
  if (!pending_.empty()) {
    loop_.watch(write_end_.get(), EPOLLOUT, [this] { write_rank(); });
    return;
  }
  loop_.forget(write_end_.get());
  resume();
}

}  // namespace heddle::tools
