// SPDX-License-Identifier: BSD-3-Clause
// os.cpp - see os.h.
#include "backends/shm/os.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <sstream>

#include "base/file_size.h"

namespace heddle::transport::shm {

namespace {

constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

const char* cure_of(int code) {
  switch (code) {
    case EACCES:
    case EPERM:
      return " (another user, or /proc mounted with hidepid? run all ranks as one user)";
    case ENOENT:
    case ESRCH:
      return " (it has ended, or lives in another pid namespace)";
    case EMFILE:
    case ENFILE:
      return " (raise the limit of open files, ulimit -n)";
    case EFBIG:
      return " (raise the limit of file sizes, ulimit -f)";
    default:
      return "";
  }
}

}  // namespace

void fail(const std::string& what, int code) {
  const std::string text = fmt::format("{}: {}{}", what, std::strerror(code), cure_of(code));
  if (code == EMFILE || code == ENFILE || code == ENOMEM) throw shortage(text);
  throw error(text);
}

owned_fd::~owned_fd() {
  if (fd_ >= 0) close(fd_);
}

mapping::mapping(int fd, std::size_t bytes, const std::string& what, bool writable) {
  const int access = writable ? PROT_READ | PROT_WRITE : PROT_READ;
  void* const at = mmap(nullptr, bytes, access, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) fail(fmt::format("cannot map {} ({} bytes)", what, bytes), errno);
  memory_ = {static_cast<std::byte*>(at), bytes};
}

mapping mapping::of_zeros(std::size_t bytes) {
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) fail(fmt::format("cannot set aside {} bytes", bytes), errno);
  mapping made;
  made.memory_ = {static_cast<std::byte*>(at), bytes};
  return made;
}

mapping::~mapping() {
  if (!memory_.empty()) munmap(memory_.data(), memory_.size());
}

void provide_pages(std::span<std::byte> part) noexcept {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto before = reinterpret_cast<std::uintptr_t>(part.data()) % page;
  // Since Linux 5.14.
  (void)madvise(part.data() - before, part.size() + before, MADV_POPULATE_WRITE);
}

owned_fd make_sealed_memory(const char* name, std::size_t bytes) {
  owned_fd fd(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) fail(fmt::format("cannot create the memory {}", name), errno);
  if (set_file_size(fd.get(), bytes) != 0 || fchmod(fd.get(), 0600) != 0 ||
      fcntl(fd.get(), F_ADD_SEALS, seals) != 0) {
    fail(fmt::format("cannot set up the memory {} of {} bytes", name, bytes), errno);
  }
  return fd;
}

std::size_t check_sealed_memory(int fd, std::size_t bytes, const std::string& what) {
  struct stat about {};
  if (fstat(fd, &about) != 0) fail(fmt::format("cannot examine {}", what), errno);
  const int have = fcntl(fd, F_GET_SEALS);
  if (!S_ISREG(about.st_mode) || have < 0 || (have & F_SEAL_SHRINK) == 0) {
    throw error(fmt::format("{} is not sealed memory", what));
  }
  if (about.st_uid != geteuid()) throw error(fmt::format("{} belongs to another user", what));
  const auto size = static_cast<std::size_t>(about.st_size);
  if (size < bytes) {
    throw error(fmt::format("{} has {} bytes instead of {}", what, size, bytes));
  }
  return size;
}

bell_pipe make_bell() {
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) fail("cannot create a pipe", errno);
  return {owned_fd(ends[0]), owned_fd(ends[1])};
}

void ring_bell(int write_end) noexcept {
  constexpr char byte = 0;
  while (write(write_end, &byte, 1) < 0 && errno == EINTR) {
  }
}

void silence_bell(int read_end) noexcept {
  char bytes[64];
  for (;;) {
    const ssize_t got = read(read_end, bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got < static_cast<ssize_t>(sizeof bytes)) return;
  }
}

namespace {

owned_fd open_path(const std::string& path, int flags) {
  int fd = -1;
  do {
    fd = open(path.c_str(), flags | O_CLOEXEC | O_NOCTTY);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) fail(fmt::format("cannot open {}", path), errno);
  return owned_fd(fd);
}

}  // namespace

owned_fd open_of_process(pid_t pid, int fd, file_kind kind) {
  const std::string path = fmt::format("/proc/{}/fd/{}", pid, fd);
  const owned_fd there = open_path(path, O_PATH);
  struct stat about {};
  if (fstat(there.get(), &about) != 0) fail(fmt::format("cannot examine {}", path), errno);
  if (kind == file_kind::memory ? !S_ISREG(about.st_mode) : !S_ISFIFO(about.st_mode)) {
    throw error(fmt::format("{} is not what it was said to be", path));
  }
  const int access = kind == file_kind::life_line ? O_RDONLY : O_RDWR;
  return open_path(fmt::format("/proc/self/fd/{}", there.get()), access | O_NONBLOCK);
}

owned_fd watch_process(pid_t pid) {
  // The C library's declaration in Debian 12 is not usable from C++. Close-on-exec by itself.
  owned_fd fd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  // Linux before 5.3, valgrind; containers that let through what they know.
  if (!fd && (errno == ENOSYS || errno == EPERM)) return fd;
  if (!fd) fail(fmt::format("cannot watch process {}", pid), errno);
  return fd;
}

bool is_readable(int fd) noexcept {
  pollfd one{fd, POLLIN, 0};
  int ready = 0;
  do {
    ready = ::poll(&one, 1, 0);
  } while (ready < 0 && errno == EINTR);
  return ready == 1;
}

std::uint64_t start_time_of(pid_t pid) {
  const std::string path = fmt::format("/proc/{}/stat", pid);
  const owned_fd file = open_path(path, O_RDONLY);
  char bytes[1024];
  const ssize_t got = read(file.get(), bytes, sizeof bytes);
  if (got < 0) fail(fmt::format("cannot read {}", path), errno);
  const std::string text(bytes, static_cast<std::size_t>(got));
  const std::size_t name_end = text.rfind(')');  // the name may contain anything
  if (name_end == std::string::npos) throw error(fmt::format("{} makes no sense", path));
  std::istringstream fields(text.substr(name_end + 1));
  std::string skipped;
  for (int field = 3; field < 22; ++field) fields >> skipped;
  std::uint64_t ticks = 0;
  if (!(fields >> ticks)) throw error(fmt::format("{} makes no sense", path));
  return ticks;
}

void fill_random(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = getrandom(bytes.data(), bytes.size(), 0);
    if (got < 0 && errno != EINTR) fail("cannot get random bytes", errno);
    if (got > 0) bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
}

}  // namespace heddle::transport::shm
