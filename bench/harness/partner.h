// SPDX-License-Identifier: BSD-3-Clause
// partner.h - the other rank of a pair, outside of what is timed; and two ranks where a library has
// no launcher of its own.
#pragma once
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "parts/system.h"

namespace heddle::bench {

/// Both functions throw std::exception when the other rank is gone.
class partner {
 public:
  virtual ~partner() = default;
  /// As many bytes as the other side hears.
  virtual void tell(std::span<const std::byte> bytes) = 0;
  /// Keeps moving what the other side may wait for.
  virtual void hear(std::span<std::byte> bytes) = 0;
};

template <class T>
void tell(partner& other, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  other.tell(std::as_bytes(std::span(&value, 1)));
}

template <class T>
T hear(partner& other) {
  T value{};
  other.hear(std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

/// The other rank's value; neither goes on before the other has come here.
template <class T>
T swap(partner& other, const T& mine) {
  tell(other, mine);
  return hear<T>(other);
}

/// The same of bytes, as many as each side has.
inline std::vector<std::byte> swap_bytes(partner& other, const std::vector<std::byte>& mine) {
  std::vector<std::byte> theirs(swap(other, mine.size()));
  other.tell(mine);
  other.hear(theirs);
  return theirs;
}

/// This process and the one it forks into, joined by a socket: nobody needs a launcher.
class process_pair {
 public:
  process_pair() {
    int ends[2];
    bare::checked(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair");
    child_ = bare::checked(fork(), "fork");
    socket_ = bare::unique_fd(ends[rank()]);
    const bare::unique_fd of_the_other(ends[1 - rank()]);
  }
  /// Rank 0 waits for the other one.
  ~process_pair() {
    if (child_ == 0) return;
    socket_.reset();
    waitpid(child_, nullptr, 0);
  }
  [[nodiscard]] int rank() const noexcept { return child_ == 0 ? 1 : 0; }

  /// Before an end that the other rank does not expect: it learns of that by the socket's.
  void abandon() noexcept {}

  /// As many bytes as the other rank hears. Throws std::runtime_error when it is gone.
  void tell(std::span<const std::byte> bytes) const {
    const auto sent = send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent != static_cast<ssize_t>(bytes.size()))
      throw std::runtime_error("the other rank is gone");
  }
  /// Takes what has come, from the beginning of `bytes` on; returns the rest of it. Does not wait.
  [[nodiscard]] std::span<std::byte> hear_some(std::span<std::byte> bytes) const {
    const auto got = recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
      throw std::runtime_error("the other rank is gone");
    }
    return got > 0 ? bytes.subspan(static_cast<std::size_t>(got)) : bytes;
  }
  /// Waits for all of it, asleep.
  void hear(std::span<std::byte> bytes) const {
    while (!bytes.empty()) {
      pollfd readable{.fd = socket_.get(), .events = POLLIN, .revents = 0};
      (void)poll(&readable, 1, -1);
      bytes = hear_some(bytes);
    }
  }

 private:
  bare::unique_fd socket_;
  int child_ = 0;
};

}  // namespace heddle::bench
