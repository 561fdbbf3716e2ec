// SPDX-License-Identifier: BSD-3-Clause
// shared_pipe.cpp - see shared_pipe.h.
#include "shared_pipe.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

namespace hca {

shared_pipe::shared_pipe() {
  std::array<int, 2> ends{-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return;
  in_ = host::owned_fd(ends[0]);
  out_ = host::owned_fd(ends[1]);
  host::file_identity which;
  std::uint64_t bytes = 0;
  if (host::identify(ends[1], which, bytes)) address_ = {which.device, which.inode, ends[1], 0};
}

int shared_pipe::read_whole(void* into, std::size_t bytes) const noexcept {
  ssize_t got = 0;
  do {
    got = read(fd(), into, bytes);
  } while (got < 0 && errno == EINTR);
  return got == static_cast<ssize_t>(bytes) ? 0 : -1;
}

/// The pipe of that number in process `pid` now, if it is `to`.
host::owned_fd pipe_writer::open_now(pid_t pid, const pipe_address& to) {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/%d/fd/%d", static_cast<int>(pid), to.fd);
  // For reading as well: a pipe without a reader would end this process by SIGPIPE.
  host::owned_fd fd(open(path.data(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  host::file_identity which;
  std::uint64_t bytes = 0;
  if (!fd || !host::identify(fd.get(), which, bytes)) return {};
  if (which != host::file_identity{to.device, to.inode}) return {};
  return fd;
}

int pipe_writer::find(pid_t pid, const pipe_address& to) {
  const key name{pid, to.device, to.inode};
  if (const auto known = open_.find(name); known != open_.end()) return known->second.fd.get();
  // Before one more is kept: those that their readers have closed go.
  std::erase_if(open_, [](const auto& each) {
    return !open_now(std::get<pid_t>(each.first), each.second.to);
  });
  host::owned_fd fd = open_now(pid, to);
  return fd ? open_.emplace(name, kept{std::move(fd), to}).first->second.fd.get() : -1;
}

void pipe_writer::write(pid_t pid, const pipe_address& to, const void* record,
                        std::size_t bytes) noexcept {
  if (to.inode == 0) return;
  const std::lock_guard held(mutex_);
  const int fd = find(pid, to);
  if (fd >= 0) (void)!::write(fd, record, bytes);
}

}  // namespace hca
