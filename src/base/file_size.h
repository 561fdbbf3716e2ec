// SPDX-License-Identifier: BSD-3-Clause
// file_size.h - gives a file its size, also where the process may have none so large.
#pragma once
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace heddle {

/// As ftruncate, but beyond the limit (ulimit -f), which counts for memory that processes share,
/// too, it fails with EFBIG: the kernel would end the program by SIGXFSZ.
[[nodiscard]] inline int set_file_size(int fd, std::uint64_t bytes) noexcept {
  rlimit most{};
  if (getrlimit(RLIMIT_FSIZE, &most) == 0 && bytes > most.rlim_cur) {
    errno = EFBIG;
    return -1;
  }
  return ftruncate(fd, static_cast<off_t>(bytes));
}

}  // namespace heddle
