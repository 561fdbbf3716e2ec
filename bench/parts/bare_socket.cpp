// SPDX-License-Identifier: BSD-3-Clause
// bare_socket.cpp - the limits set by TCP over loopback: round trips, one stream, small messages.
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <utility>
#include <vector>

#include "parts/bare.h"
#include "parts/system.h"
#include "parts/timing.h"

namespace heddle::bare {
namespace {

struct connection {
  unique_fd near, far;
};

/// Enough to keep both sides of a stream busy; more spills out of the caches.
constexpr int stream_buffer_bytes = 1 << 20;

void set_option(int fd, int level, int name, int value) {
  checked(setsockopt(fd, level, name, &value, sizeof value), "set a socket option");
}

/// A connected pair of non-blocking TCP sockets over 127.0.0.1 without Nagle's delay.
/// buffer_bytes 0: the system chooses.
connection connect_loopback(int buffer_bytes = 0) {
  const int type = SOCK_STREAM | SOCK_CLOEXEC;
  const unique_fd listener(checked(socket(AF_INET, type, 0), "open a TCP socket"));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  checked(bind(listener.get(), generic, size), "bind to 127.0.0.1");
  checked(listen(listener.get(), 1), "listen on 127.0.0.1");
  checked(getsockname(listener.get(), generic, &size), "learn the port");
  connection both;
  both.near = unique_fd(checked(socket(AF_INET, type, 0), "open a TCP socket"));
  if (buffer_bytes > 0) {  // before connecting, so that the window fits
    set_option(listener.get(), SOL_SOCKET, SO_RCVBUF, buffer_bytes);
    set_option(both.near.get(), SOL_SOCKET, SO_SNDBUF, buffer_bytes);
  }
  checked(connect(both.near.get(), generic, size), "connect over loopback");
  both.far = unique_fd(checked(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC), "accept"));
  for (const int fd : {both.near.get(), both.far.get()}) {
    set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    checked(fcntl(fd, F_SETFL, O_NONBLOCK), "set O_NONBLOCK");
  }
  return both;
}

[[nodiscard]] bool retry() {
  return errno == EINTR || errno == EAGAIN;
}

/// Sends everything, spinning while the socket is full. False: the other side is gone.
bool send_all(int fd, const std::byte* data, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t sent = send(fd, data, bytes, MSG_NOSIGNAL);
    if (sent < 0 && !retry()) return false;
    if (sent > 0) {
      data += sent;
      bytes -= static_cast<std::size_t>(sent);
    }
  }
  return true;
}

/// Receives exactly `bytes`, spinning while there is nothing. False: the other side is gone.
bool recv_all(int fd, std::byte* into, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t got = recv(fd, into, bytes, 0);
    if (got == 0 || (got < 0 && !retry())) return false;
    if (got > 0) {
      into += got;
      bytes -= static_cast<std::size_t>(got);
    }
  }
  return true;
}

/// Pings from a thread on `core` until the time is over; then hangs up, which ends the echo.
double ping(int core, unique_fd& fd, std::size_t bytes, duration time) {
  return on_core(core, [&] {
    const unique_fd until_then = std::move(fd);
    std::vector<std::byte> buffer(bytes);
    return seconds_per_step(time, 16, [&] {
      if (!send_all(until_then.get(), buffer.data(), bytes) ||
          !recv_all(until_then.get(), buffer.data(), bytes))
        throw std::system_error(ECONNRESET, std::generic_category(), "socket ping-pong");
    });
  });
}

/// Until the other side hangs up; `await_input()` comes before each message.
template <class F>
void echo(int fd, std::size_t bytes, F&& await_input) {
  std::vector<std::byte> buffer(bytes);
  do await_input();
  while (recv_all(fd, buffer.data(), bytes) && send_all(fd, buffer.data(), bytes));
}

/// An epoll set that watches `fd` for input.
unique_fd watch_input(int fd) {
  unique_fd events(checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1"));
  epoll_event interest{};
  interest.events = EPOLLIN;
  checked(epoll_ctl(events.get(), EPOLL_CTL_ADD, fd, &interest), "epoll_ctl");
  return events;
}

/// One way through a connection for about `time`: `send_some(fd)` answers how much it has sent,
/// `take_some(fd)` false once the other side has ended. So much per second, until the last was
/// taken.
template <class Send, class Take>
double one_way(core_pair cores, duration time, Send send_some, Take take_some) {
  connection both = connect_loopback(stream_buffer_bytes);
  const std::jthread sink = start_pinned(cores.second, [&] {
    while (take_some(both.far.get())) {
    }
    both.far.reset();
  });
  return on_core(cores.first, [&] {
    using clock = std::chrono::steady_clock;
    std::size_t total = 0;
    const clock::time_point start = clock::now();
    while (clock::now() - start < time) total += send_some(both.near.get());
    shutdown(both.near.get(), SHUT_WR);
    std::byte none;
    recv_all(both.near.get(), &none, 1);  // returns when the sink has hung up
    const std::chrono::duration<double> seconds = clock::now() - start;
    return static_cast<double>(total) / seconds.count();
  });
}

/// Bytes per second of a stream of messages, so many written and read at once, spinning while the
/// connection is full or empty.
double stream(core_pair cores, std::size_t message, std::size_t written, std::size_t read,
              duration time) {
  const std::vector<std::byte> data(message, std::byte{1});
  std::vector<std::byte> buffer(read);
  return one_way(
      cores, time,
      [&](int fd) {
        for (std::size_t at = 0; at < message; at += written)
          send_all(fd, data.data() + at, std::min(written, message - at));
        return message;
      },
      [&](int fd) {
        const ssize_t got = recv(fd, buffer.data(), buffer.size(), 0);
        return got > 0 || (got < 0 && retry());
      });
}

/// The least that a message has around it: how long it is, and one word of whose it is.
struct frame_head {
  std::uint64_t bytes, whose;
};

/// Takes frames out of what has come; the rest of one waits for its end.
class frame_reader {
 public:
  explicit frame_reader(std::size_t bytes) : buffer_(bytes) {}

  bool take_some(int fd) {
    const ssize_t got = recv(fd, buffer_.data() + kept_, buffer_.size() - kept_, 0);
    if (got <= 0) return got < 0 && retry();
    const std::size_t end = kept_ + static_cast<std::size_t>(got);
    std::size_t at = 0;
    for (frame_head head; end - at >= sizeof head; at += sizeof head + head.bytes) {
      std::memcpy(&head, buffer_.data() + at, sizeof head);
      if (end - at < sizeof head + head.bytes) break;
      seen_ = seen_ + head.whose + static_cast<std::uint64_t>(buffer_[at + sizeof head]);
    }
    kept_ = end - at;
    std::memmove(buffer_.data(), buffer_.data() + at, kept_);
    return true;
  }

 private:
  std::vector<std::byte> buffer_;
  std::size_t kept_ = 0;
  volatile std::uint64_t seen_ = 0;  // as of a program that looks at its messages
};

}  // namespace

double socket_round_trip(core_pair cores, std::size_t bytes, duration time) {
  connection both = connect_loopback();
  const std::jthread echoing =
      start_pinned(cores.second, [&] { echo(both.far.get(), bytes, [] {}); });
  return ping(cores.first, both.near, bytes, time);
}

double sleeping_target_round_trip(core_pair cores, std::size_t bytes, duration time) {
  connection both = connect_loopback();
  const unique_fd events = watch_input(both.far.get());
  std::atomic<bool> finished{false};
  const std::jthread computing = start_pinned(cores.second, [&finished] {
    volatile std::uint64_t work = 0;
    while (!finished.load(std::memory_order_relaxed)) {  // relaxed: only has to end some time
      for (int i = 0; i < 1000; ++i) work = work * 3 + 1;
    }
  });
  // Like a progress thread that has nothing else to do: asleep until something arrives.
  const auto sleep = [&events] {
    epoll_event happened{};
    (void)epoll_wait(events.get(), &happened, 1, -1);
  };
  const std::jthread echoing =
      start_pinned(cores.second, [&] { echo(both.far.get(), bytes, sleep); });
  const double seconds = ping(cores.first, both.near, bytes, time);
  finished.store(true, std::memory_order_relaxed);
  return seconds;
}

double socket_stream(core_pair cores, std::size_t message_bytes, duration time) {
  constexpr std::size_t kib = 1024;
  constexpr std::pair<std::size_t, std::size_t> written_and_read[]{{1024 * kib, 64 * kib},
                                                                   {1024 * kib, 1024 * kib},
                                                                   {256 * kib, 64 * kib},
                                                                   {64 * kib, 64 * kib}};
  double best = 0;
  for (const auto& [written, read] : written_and_read)
    best = std::max(
        best, stream(cores, message_bytes, written, read, time / std::size(written_and_read)));
  return best;
}

double socket_messages(core_pair cores, std::size_t bytes, duration time) {
  constexpr std::size_t batch = 64 * 1024;
  const std::size_t framed = sizeof(frame_head) + bytes;
  const std::size_t count = std::max<std::size_t>(batch / framed, 1);
  std::vector<std::byte> out(count * framed);
  const std::vector<std::byte> message(bytes, std::byte{1});
  frame_reader reader(std::max(batch, 2 * framed));
  std::uint64_t number = 0;
  return one_way(
      cores, time,
      [&](int fd) {
        for (std::size_t at = 0; at < out.size(); at += framed) {
          const frame_head head{bytes, number++};
          std::memcpy(out.data() + at, &head, sizeof head);
          std::memcpy(out.data() + at + sizeof head, message.data(), bytes);
        }
        send_all(fd, out.data(), out.size());
        return count;
      },
      [&](int fd) { return reader.take_some(fd); });
}

}  // namespace heddle::bare
