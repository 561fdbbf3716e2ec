// SPDX-License-Identifier: BSD-3-Clause
// scale_worker.h - a process that works something out.
#pragma once
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <functional>
#include <type_traits>

#include "base/error.h"
#include "base/fd.h"

namespace heddle::tools {

/// For programs with one thread.
template <class Result>
class worker {
  static_assert(std::is_trivially_copyable_v<Result>);

 public:
  explicit worker(const std::function<Result()>& work) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) fail_errno(errno, "make a pipe");
    read_end_.reset(ends[0]);
    unique_fd write_end(ends[1]);
    process_ = fork();
    if (process_ < 0) fail_errno(errno, "start a process");
    if (process_ == 0) _exit(tell(work, write_end.get()) ? 0 : 1);
  }
  ~worker() {
    if (process_ > 0) (void)waitpid(process_, nullptr, 0);
  }
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;

  /// Throws error: there is none, and why has been printed.
  Result result() const {
    Result made;
    if (read(read_end_.get(), &made, sizeof made) != sizeof made)
      fail("the join could not be simulated");
    return made;
  }

 private:
  static bool tell(const std::function<Result()>& work, int to) {
    try {
      const Result made = work();
      return write(to, &made, sizeof made) == sizeof made;
    } catch (const std::exception& why) {
      fmt::print(stderr, "heddle info: {}\n", why.what());
      return false;
    }
  }

  unique_fd read_end_;
  pid_t process_ = -1;
};

}  // namespace heddle::tools
