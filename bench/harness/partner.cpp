// SPDX-License-Identifier: BSD-3-Clause
// partner.cpp - forking, and a socket between the two.
#include "harness/partner.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <stdexcept>

namespace heddle::bench {

process_pair::process_pair() {
  int ends[2];
  bare::checked(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair");
  child_ = bare::checked(fork(), "fork");
  socket_ = bare::unique_fd(ends[rank()]);
  const bare::unique_fd of_the_other(ends[1 - rank()]);
}

process_pair::~process_pair() {
  if (child_ == 0) return;
  socket_.reset();
  waitpid(child_, nullptr, 0);
}

void process_pair::tell(std::span<const std::byte> bytes) const {
  const auto sent = send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (sent != static_cast<ssize_t>(bytes.size()))
    throw std::runtime_error("the other rank is gone");
}

std::span<std::byte> process_pair::hear_some(std::span<std::byte> bytes) const {
  const auto got = recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
    throw std::runtime_error("the other rank is gone");
  }
  return got > 0 ? bytes.subspan(static_cast<std::size_t>(got)) : bytes;
}

void process_pair::hear(std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    pollfd readable{.fd = socket_.get(), .events = POLLIN, .revents = 0};
    (void)poll(&readable, 1, -1);
    bytes = hear_some(bytes);
  }
}

}  // namespace heddle::bench
