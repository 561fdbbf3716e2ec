// SPDX-License-Identifier: BSD-3-Clause
// machine_store.cpp - see machine_store.h.
#include "host/machine_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "host/machine_lock.h"
#include "host/words.h"

namespace host {

namespace {

constexpr const char* folder = "/dev/shm";

/// What the files of all machines of a device begin and end with.
std::string name_begin() {
  return std::string(device_name) + "." + std::to_string(geteuid()) + ".";
}
std::string name_end(const machine_kind& kind) {
  return "." + std::to_string(kind.layout);
}

bool init_robust(pthread_mutex_t& lock) noexcept {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  const int rc = pthread_mutex_init(&lock, &attributes);
  pthread_mutexattr_destroy(&attributes);
  return rc == 0;
}

/// A complete, empty machine without a name, which then gets the one that all look for: so nobody
/// ever sees half of one. Returns 0, or the reason; EEXIST: there is one already.
int create_file(const machine_kind& kind, const std::string& path, const machine_plan& plan) {
  const owned_fd fd(open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!fd || ftruncate(fd.get(), static_cast<off_t>(plan.bytes)) != 0) return errno;
  if (const int problem = reserve(fd.get(), 0, plan.reserved); problem != 0) return problem;
  const mapping map(fd.get(), plan.bytes);
  if (!map) return errno;
  auto& head = *reinterpret_cast<machine_head*>(map.data());
  head.magic = kind.magic;
  head.bytes = map.size();
  plan.fill(head);
  const std::string open_file = "/proc/self/fd/" + std::to_string(fd.get());
  if (!init_robust(head.lock)) return ENOTSUP;
  const int rc = linkat(AT_FDCWD, open_file.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW);
  return rc == 0 ? 0 : errno;
}

}  // namespace

int reserve(int fd, std::size_t at, std::size_t bytes) noexcept {
  int problem = 0;
  do {
    problem = posix_fallocate(fd, static_cast<off_t>(at), static_cast<off_t>(bytes));
  } while (problem == EINTR);
  return problem;
}

void say_no_room(const char* what, std::size_t bytes, int problem) noexcept {
  struct statvfs about {};
  if (problem != ENOSPC || statvfs(folder, &about) != 0) {
    say("cannot make %s in %s: %s", what, folder, strerrordesc_np(problem));
    return;
  }
  const unsigned long left = about.f_bavail * about.f_frsize / 1024;
  const unsigned long size = about.f_blocks * about.f_frsize / 1024;
  say("cannot make %s: %zu KiB are needed in %s, which has %lu of %lu KiB left; remove files "
      "there, or enlarge it (mount -o remount,size=64m %s, docker run --shm-size)",
      what, bytes / 1024, folder, left, size, folder);
}

std::string path_of_job(const machine_kind& kind, const std::string& job) {
  std::string name = job;
  for (char& c : name) {
    if (c == '/') c = '_';
  }
  return std::string(folder) + "/" + name_begin() + name + name_end(kind);
}

std::optional<machine_image> open_machine(const machine_kind& kind, const std::string& path) {
  owned_fd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  struct stat about {};
  if (!fd || fstat(fd.get(), &about) != 0 || about.st_uid != geteuid()) return std::nullopt;
  const auto bytes = static_cast<std::size_t>(about.st_size);
  if (bytes < sizeof(machine_head)) return std::nullopt;
  mapping map(fd.get(), bytes);
  if (!map) return std::nullopt;
  const auto& head = *reinterpret_cast<const machine_head*>(map.data());
  if (head.magic != kind.magic || head.bytes != bytes || kind.bytes_of(head) != bytes)
    return std::nullopt;
  return machine_image{path, std::move(fd), std::move(map)};
}

std::optional<machine_image> open_or_create_machine(const machine_kind& kind,
                                                    const std::string& path,
                                                    const machine_plan& plan) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    if (auto found = open_machine(kind, path)) return found;
    const int problem = create_file(kind, path, plan);
    if (problem == 0 || (problem == EEXIST && attempt < 50)) continue;
    if (problem == EEXIST) break;
    say_no_room("the machine's file", plan.reserved, problem);
    return std::nullopt;
  }
  say("%s is not a machine of this version", path.c_str());
  return std::nullopt;
}

void close_machine(const machine_image& image) noexcept {
  image.head().closed.store(1, std::memory_order_relaxed);  // relaxed: only read under the lock
  unlink(image.path.c_str());
}

void sweep_machines(const machine_kind& kind) {
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(name_begin()) || !name.ends_with(name_end(kind))) continue;
    const auto image = open_machine(kind, entry.path());
    if (!image) continue;
    const machine_guard held(image->head(), std::try_to_lock);
    if (held && is_abandoned(image->head())) close_machine(*image);
  }
}

}  // namespace host
