// SPDX-License-Identifier: BSD-3-Clause
// shared_pipe.h - a pipe that this process reads, as any program can by its descriptor, and that
// other processes write: completion events and asynchronous events.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <tuple>

#include "host/members.h"
#include "host/os.h"

namespace hca {

/// How others find the pipe. Plain numbers, for shared memory. inode 0: there is none.
struct pipe_address {
  std::uint64_t device = 0, inode = 0;
  std::int32_t fd = -1;  ///< of its writing end, in the process that reads it
  std::uint32_t padding = 0;
};

/// The reader's side.
class shared_pipe {
 public:
  /// False in bool(): the system has no descriptors left.
  shared_pipe();
  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(in_); }
  [[nodiscard]] int fd() const noexcept { return in_.get(); }
  [[nodiscard]] const pipe_address& address() const noexcept { return address_; }
  /// One record, waiting for it unless the program made the descriptor non-blocking. 0 or -1 with
  /// errno, as read(2).
  template <class Record>
  [[nodiscard]] int get(Record& record) const noexcept {
    return read_whole(&record, sizeof record);
  }

 private:
  int read_whole(void* into, std::size_t bytes) const noexcept;

  host::owned_fd in_, out_;
  pipe_address address_;
};

/// The writers' side: pipes of whatever process, opened when first written. Any thread.
class pipe_writer {
 public:
  /// Lost where the reader is gone or does not read.
  template <class Record>
  void put(pid_t pid, const pipe_address& to, const Record& record) noexcept {
    write(pid, to, &record, sizeof record);
  }

 private:
  using key = std::tuple<pid_t, std::uint64_t, std::uint64_t>;
  struct kept {
    host::owned_fd fd;
    pipe_address to;
  };
  void write(pid_t pid, const pipe_address& to, const void* record, std::size_t bytes) noexcept;
  int find(pid_t pid, const pipe_address& to);
  static host::owned_fd open_now(pid_t pid, const pipe_address& to);

  std::mutex mutex_;  // guards all below
  std::map<key, kept> open_;
};

}  // namespace hca
