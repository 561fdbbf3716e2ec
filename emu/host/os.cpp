// SPDX-License-Identifier: BSD-3-Clause
// os.cpp - see os.h.
#include "os.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace host {

owned_fd::~owned_fd() {
  if (fd_ >= 0) close(fd_);
}

mapping::mapping(int fd, std::size_t bytes, bool writable) noexcept {
  const int access = writable ? PROT_READ | PROT_WRITE : PROT_READ;
  void* const at = mmap(nullptr, bytes, access, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) return;
  data_ = static_cast<std::byte*>(at);
  bytes_ = bytes;
}

mapping::~mapping() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

owned_fd make_sealed_memory(const char* name, std::size_t bytes) noexcept {
  owned_fd fd(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd || ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0 || fchmod(fd.get(), 0600) != 0 ||
      fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return {};
  }
  return fd;
}

bool is_sealed_memory(int fd, std::size_t bytes) noexcept {
  struct stat about {};
  const int seals = fcntl(fd, F_GET_SEALS);
  return seals >= 0 && (seals & F_SEAL_SHRINK) != 0 && fstat(fd, &about) == 0 &&
         about.st_uid == geteuid() && static_cast<std::size_t>(about.st_size) == bytes;
}

owned_fd open_of_process(pid_t pid, int fd, bool writable) noexcept {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/%d/fd/%d", static_cast<int>(pid), fd);
  struct stat about {};
  // Looked at first: opening a pipe or a device could have effects.
  if (stat(path.data(), &about) != 0 || !S_ISREG(about.st_mode)) return {};
  return owned_fd(open(path.data(), (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC));
}

bool identify(int fd, file_identity& which, std::uint64_t& bytes) noexcept {
  // By its name: the descriptor may be another thread's, who opens or closes it meanwhile.
  std::array<char, 32> path{};
  std::snprintf(path.data(), path.size(), "/proc/self/fd/%d", fd);
  struct stat about {};
  if (stat(path.data(), &about) != 0) return false;
  which = {about.st_dev, about.st_ino};
  bytes = static_cast<std::uint64_t>(about.st_size);
  return true;
}

std::uint64_t start_time_of(pid_t pid) noexcept {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/%d/stat", static_cast<int>(pid));
  const owned_fd fd(open(path.data(), O_RDONLY | O_CLOEXEC));
  std::array<char, 1024> text{};
  if (!fd || read(fd.get(), text.data(), text.size() - 1) <= 0) return 0;
  // The name, field 2, is in parentheses and may hold anything; state and start are 3 and 22.
  const char* at = std::strrchr(text.data(), ')');
  if (at == nullptr || at[1] == '\0' || at[2] == 'Z' || at[2] == 'X') return 0;
  for (int field = 2; field < 22; ++field) {
    at = std::strchr(at + 1, ' ');
    if (at == nullptr) return 0;
  }
  return std::strtoull(at, nullptr, 10);
}

}  // namespace host
