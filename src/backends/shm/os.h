// SPDX-License-Identifier: BSD-3-Clause
// os.h - descriptors, mappings and other processes' files, with errors that name their cause.
#pragma once
#include <heddle/status.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace heddle::transport::shm {

/// This process is out of descriptors or memory: the same call may succeed later.
class shortage : public error {
 public:
  using error::error;
};

/// Throws error or shortage: `what`, the name of `code`, and what it usually means.
[[noreturn]] void fail(const std::string& what, int code);

/// Closes its descriptor.
class owned_fd {
 public:
  owned_fd() = default;
  explicit owned_fd(int fd) noexcept : fd_(fd) {}
  owned_fd(owned_fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  owned_fd& operator=(owned_fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~owned_fd();
  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] explicit operator bool() const noexcept { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

/// Unmaps its memory.
class mapping {
 public:
  mapping() = default;
  /// The first `bytes` of `fd`, shared, for reading and, unless told otherwise, writing. Throws.
  mapping(int fd, std::size_t bytes, const std::string& what, bool writable = true);
  /// `bytes` zero bytes of our own, which cost nothing before they are touched. Throws.
  [[nodiscard]] static mapping of_zeros(std::size_t bytes);
  mapping(mapping&& other) noexcept : memory_(std::exchange(other.memory_, {})) {}
  mapping& operator=(mapping&& other) noexcept {
    std::swap(memory_, other.memory_);
    return *this;
  }
  ~mapping();
  [[nodiscard]] std::byte* data() const noexcept { return memory_.data(); }
  [[nodiscard]] std::size_t size() const noexcept { return memory_.size(); }

 private:
  std::span<std::byte> memory_;
};

/// Puts memory in place for this part of a mapping, all at once: touching page after page takes ten
/// times as long. Where that cannot be, the pages come as they are touched.
void provide_pages(std::span<std::byte> part) noexcept;

/// Anonymous memory of `bytes` zero bytes that cannot change its size, mode 0600. Throws.
[[nodiscard]] owned_fd make_sealed_memory(const char* name, std::size_t bytes);

/// Throws unless `fd` is memory that belongs to our user, is at least `bytes` long, and can never
/// shrink, so that touching a mapping of it cannot kill us. Returns its size.
std::size_t check_sealed_memory(int fd, std::size_t bytes, const std::string& what);

/// Both ends non-blocking. Throws.
struct bell_pipe {
  owned_fd read, write;
};
[[nodiscard]] bell_pipe make_bell();
/// One byte into a pipe. What is already in it is as good.
void ring_bell(int write_end) noexcept;
/// Empties a pipe.
void silence_bell(int read_end) noexcept;

/// life_line: a pipe of which its process has the only end to write to.
enum class file_kind : std::uint8_t { memory, pipe, life_line };

/// Our own descriptor of what is number `fd` in process `pid`, after a look at what it is: opening
/// must not have effects. A pipe is opened for both directions, so that writing to it never raises
/// SIGPIPE; a life line for reading only, and is readable once its process has ended. Throws.
[[nodiscard]] owned_fd open_of_process(pid_t pid, int fd, file_kind kind);

/// Readable once the process has ended; none where the kernel, or who stands in for it, has no such
/// descriptors. Throws.
[[nodiscard]] owned_fd watch_process(pid_t pid);
[[nodiscard]] bool is_readable(int fd) noexcept;

/// When the process started, in clock ticks since boot; tells it from a later one with its number.
/// Throws.
[[nodiscard]] std::uint64_t start_time_of(pid_t pid);

void fill_random(std::span<std::byte> bytes);

}  // namespace heddle::transport::shm
