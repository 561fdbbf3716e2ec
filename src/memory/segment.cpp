// SPDX-License-Identifier: BSD-3-Clause
#include "memory/segment.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <heddle/status.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace heddle::memory {
namespace {

[[noreturn]] void fail(const std::string& what, std::size_t bytes) {
  throw error(
      fmt::format("allocate {} bytes of shared memory: {}: {}; ask for less, or raise the "
                  "limit (ulimit -v, ulimit -n, cgroup memory, /proc/sys/fs/file-max)",
                  bytes, what, std::strerror(errno)));
}

std::size_t whole_pages(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return std::max<std::size_t>(1, (bytes + page - 1) / page) * page;
}

/// Nobody sets another seal afterwards. The owner's mapping, made before, stays writable.
bool seal(int fd, peers may) {
  // Before Linux 5.1 the kernel does not know it: then peers' own mappings, for reading, must do.
  if (may == peers::only_read && fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE) != 0 &&
      errno != EINVAL) {
    return false;
  }
  return fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
}

}  // namespace

segment::segment(const std::string& name, std::size_t bytes, peers may) {
  const std::size_t size = whole_pages(bytes);
  if (size < bytes) {
    errno = ENOMEM;
    fail("size", bytes);
  }
  fd_ = memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd_ < 0) fail("memfd_create", bytes);
  void* at = MAP_FAILED;
  if (fchmod(fd_, 0600) == 0 && ftruncate(fd_, static_cast<off_t>(size)) == 0) {
    at = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  }
  if (at != MAP_FAILED) memory_ = {static_cast<std::byte*>(at), size};
  if (at == MAP_FAILED || !seal(fd_, may)) {
    const int why = errno;
    *this = segment();
    errno = why;
    fail("map", bytes);
  }
}

segment::segment(segment&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), memory_(std::exchange(other.memory_, {})) {}

segment& segment::operator=(segment&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(memory_, other.memory_);
  return *this;
}

segment::~segment() {
  if (!memory_.empty()) munmap(memory_.data(), memory_.size());
  if (fd_ >= 0) close(fd_);
}

}  // namespace heddle::memory
