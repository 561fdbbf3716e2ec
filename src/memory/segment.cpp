// SPDX-License-Identifier: BSD-3-Clause
#include "memory/segment.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <heddle/status.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/file_size.h"

namespace heddle::memory {
namespace {

/// What the kernel can make one page of: on x86, and on Arm of many small ones.
constexpr std::size_t huge_page = std::size_t{2} << 20;

[[noreturn]] void fail(const std::string& what, std::size_t bytes) {
  throw error(
      fmt::format("allocate {} bytes of memory: {}: {}; ask for less, or raise the "
                  "limit (ulimit -v, -n, -f, cgroup memory, /proc/sys/fs/file-max)",
                  bytes, what, std::strerror(errno)));
}

/// 0: there are not so many.
std::size_t whole_pages(std::size_t bytes) noexcept {
  if (bytes > SIZE_MAX / 2) return 0;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const auto rounded = [=](std::size_t to) { return (bytes + to - 1) / to * to; };
  const bool half_used = bytes != 0 && rounded(huge_page) / 2 <= bytes;
  return half_used ? rounded(huge_page) : std::max(page, rounded(page));
}

/// From where a huge page can begin. MAP_FAILED: errno says why.
void* map_private(const std::string& name, std::size_t size) noexcept {
  const std::size_t spare = size < huge_page ? 0 : huge_page;
  void* const at =
      mmap(nullptr, size + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return at;
  auto* begin = static_cast<std::byte*>(at);
  if (spare != 0) {
    const std::size_t before = -reinterpret_cast<std::uintptr_t>(at) % huge_page;
    if (before != 0) munmap(begin, before);
    begin += before;
    munmap(begin + size, spare - before);
  }
  (void)prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, begin, size, name.c_str());  // for /proc/PID/smaps
  return begin;
}

/// MAP_FAILED: errno says why.
void* map_file(int fd, std::size_t size) noexcept {
  if (fchmod(fd, 0600) != 0 || set_file_size(fd, size) != 0) return MAP_FAILED;
  return mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
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
  if (size == 0) {
    errno = ENOMEM;
    fail("size", bytes);
  }
  const bool is_file = may != peers::none;
  if (is_file) fd_ = memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (is_file && fd_ < 0) fail("memfd_create", bytes);
  void* const at = is_file ? map_file(fd_, size) : map_private(name, size);
  if (at != MAP_FAILED) memory_ = {static_cast<std::byte*>(at), size};
  if (at == MAP_FAILED || (is_file && !seal(fd_, may))) {
    const int why = errno;
    *this = segment();
    errno = why;
    fail("map", bytes);
  }
  if (size >= huge_page) (void)madvise(at, size, MADV_HUGEPAGE);  // the kernel may have none
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
