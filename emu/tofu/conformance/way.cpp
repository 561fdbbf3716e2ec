// SPDX-License-Identifier: BSD-3-Clause
#include "way.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <utility>

#include "process.h"

namespace conformance {
namespace {

class socket_way : public way {
 public:
  explicit socket_way(int socket) : socket_(socket) {}

  bool send(const void* message, std::size_t bytes) override {
    return ::send(socket_, message, bytes, MSG_NOSIGNAL) == ssize_t(bytes);
  }

  bool receive(void* message, std::size_t bytes, double seconds) override {
    const deadline over(seconds);
    std::size_t have = 0;
    while (have < bytes) {
      pollfd readable = {socket_, POLLIN, 0};
      if (::poll(&readable, 1, int(over.left() * 1000) + 1) <= 0) return false;
      const ssize_t got = ::recv(socket_, static_cast<char*>(message) + have, bytes - have, 0);
      if (got <= 0) return false;
      have += std::size_t(got);
    }
    return true;
  }

 private:
  int socket_;
};

class file_way : public way {
 public:
  file_way(std::string folder, int me, int other)
      : folder_(std::move(folder)), me_(me), other_(other) {}

  bool send(const void* message, std::size_t bytes) override {
    const std::string path = path_of(me_, other_, sent_++), unfinished = path + ".part";
    const int file = ::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (file < 0) return false;
    const bool whole = ::write(file, message, bytes) == ssize_t(bytes);
    ::close(file);
    return whole && std::rename(unfinished.c_str(), path.c_str()) == 0;
  }

  bool receive(void* message, std::size_t bytes, double seconds) override {
    const std::string path = path_of(other_, me_, received_);
    const deadline over(seconds);
    int file = -1;
    while ((file = ::open(path.c_str(), O_RDONLY)) < 0) {
      if (over.passed()) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    const bool whole = ::read(file, message, bytes) == ssize_t(bytes);
    ::close(file);
    ::unlink(path.c_str());
    ++received_;
    return whole;
  }

 private:
  [[nodiscard]] std::string path_of(int from, int to, std::uint64_t number) const {
    return folder_ + "/" + std::to_string(from) + "-" + std::to_string(to) + "." +
           std::to_string(number);
  }

  std::string folder_;
  int me_, other_;
  std::uint64_t sent_ = 0, received_ = 0;
};

}  // namespace

std::unique_ptr<way> way_over_socket(int socket) {
  return std::make_unique<socket_way>(socket);
}

std::unique_ptr<way> way_through_files(std::string folder, int me, int other) {
  return std::make_unique<file_way>(std::move(folder), me, other);
}

}  // namespace conformance
