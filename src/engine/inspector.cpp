// SPDX-License-Identifier: BSD-3-Clause
#include "engine/inspector.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <utility>

#include "base/log.h"
#include "base/own_thread.h"
#include "engine/inspector_socket.h"

namespace heddle::engine {
namespace {

/// An asker that takes longer to read is left alone.
constexpr timeval patience{.tv_sec = 1, .tv_usec = 0};

/// Under the first number that no world of this rank and process has.
bool bind_free_name(int socket, int rank, int size) {
  constexpr int most_worlds = 1024;
  for (int number = 0; number < most_worlds; ++number) {
    const abstract_address where = inspector_address(getpid(), rank, size, number);
    if (bind(socket, where.get(), where.length()) == 0) return true;
    if (errno != EADDRINUSE) return false;
  }
  return false;
}

unique_fd listen_for(int rank, int size) {
  unique_fd made(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!made || !bind_free_name(made.get(), rank, size) || listen(made.get(), 8) != 0) {
    log::debug(log::subsystem::job, "this world cannot be asked by `heddle info --pid`: {}",
               std::strerror(errno));
    return {};
  }
  return made;
}

bool may_ask(int asker) noexcept {
  ucred who{};
  socklen_t bytes = sizeof who;
  return getsockopt(asker, SOL_SOCKET, SO_PEERCRED, &who, &bytes) == 0 &&
         (who.uid == geteuid() || who.uid == 0);
}

}  // namespace

inspector::inspector(int rank, int size, std::function<std::string()> report)
    : report_(std::move(report)), socket_(listen_for(rank, size)) {
  if (!socket_) return;
  try {
    thread_ = start_thread("heddle-info", [this] { run(); });
  } catch (const std::exception& e) {
    log::debug(log::subsystem::job, "this world cannot be asked by `heddle info --pid`: {}",
               e.what());
  }
}

inspector::~inspector() {
  stop();
}

void inspector::stop() noexcept {
  if (!thread_.joinable()) return;
  shutdown(socket_.get(), SHUT_RDWR);  // ends accept()
  thread_.join();
  socket_.reset();
}

void inspector::run() noexcept {
  for (;;) {
    const unique_fd asker(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (asker)
      answer(asker.get());
    else if (errno == EINVAL)
      return;  // stop()
    else
      usleep(10'000);  // no descriptors just now
  }
}

void inspector::answer(int asker) noexcept {
  if (!may_ask(asker)) return;
  setsockopt(asker, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  try {
    const std::string text = report_();
    for (std::size_t sent = 0; sent < text.size();) {
      const ssize_t n = send(asker, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) return;
      sent += static_cast<std::size_t>(n);
    }
  } catch (const std::exception& e) {
    log::debug(log::subsystem::job, "what this world waits for cannot be told: {}", e.what());
  }
}

}  // namespace heddle::engine
