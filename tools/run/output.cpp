// SPDX-License-Identifier: BSD-3-Clause
#include "run/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "run/failure.h"

namespace heddle::tools {
namespace {

constexpr std::size_t longest_line = 1024 * 1024;
constexpr std::uint64_t full_wait_ms = 5;

/// The pipe or terminal behind `fd`, opened once more: a descriptor may be shared with other
/// processes, and only one of our own can be made non-blocking. Nothing where that is not possible.
unique_fd reopened(int fd) {
  struct stat what {};
  if (fstat(fd, &what) != 0 || !(S_ISFIFO(what.st_mode) || isatty(fd) != 0)) return {};
  const std::string path = fmt::format("/proc/self/fd/{}", fd);
  return unique_fd(open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

/// How many bytes of `text` to write at once: whole lines, if there are any in the first `most`.
std::size_t next_piece(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text.size();
  const std::size_t end = text.substr(0, most).rfind('\n');
  return end == std::string_view::npos ? most : end + 1;
}

}  // namespace

std::string line_cutter::push(std::string_view bytes) {
  std::string lines;
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const bool whole = end != std::string_view::npos;
    begun_ += bytes.substr(0, whole ? end + 1 : end);
    bytes.remove_prefix(whole ? end + 1 : bytes.size());
    if (!whole && begun_.size() < longest_line) break;
    if (!inside_) lines += prefix_;
    lines += std::exchange(begun_, {});
    inside_ = !whole;
  }
  return lines;
}

std::string line_cutter::finish() {
  if (begun_.empty() && !inside_) return {};
  return push("\n");
}

file_sink::file_sink(event_loop& loop, int fd, sink* complaints)
    : loop_(loop), own_(reopened(fd)), fd_(own_ ? own_.get() : fd), complaints_(complaints) {}

void file_sink::write(std::string_view text) {
  if (closed() || text.empty()) return;
  pending_ += text;
  if (!always_ready_ && !loop_.watches(fd_))
    always_ready_ = !loop_.watch(fd_, EPOLLOUT, [this] { flush(); });
  while (always_ready_ && !pending_.empty()) flush();
}

// Writes at most what fits for sure into a pipe that has room, and looks for the room: since the
// event another sink of the same pipe may have filled it.
void file_sink::flush() {
  pollfd room{fd_, POLLOUT, 0};
  if (!always_ready_ && poll(&room, 1, 0) <= 0) return;
  const std::size_t piece = next_piece(pending_, always_ready_ ? 65536 : 4096);
  const ssize_t written = ::write(fd_, pending_.data(), piece);
  if (written >= 0) pending_.erase(0, static_cast<std::size_t>(written));
  if (written < 0 && errno != EINTR && errno != EAGAIN) {
    problem_ = errno;
    pending_.clear();
    if (problem_ != EPIPE && complaints_ != nullptr)
      say(*complaints_, "cannot write what the ranks print: {}", strerrordesc_np(problem_));
  }
  if (pending_.empty()) loop_.forget(fd_);
}

rank_output::rank_output(event_loop& loop, sink& to, std::string prefix)
    : loop_(loop), to_(to), cutter_(std::move(prefix)) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail_errno(errno, "make a pipe");
  read_end_.reset(ends[0]);
  write_end_.reset(ends[1]);
  fcntl(read_end_.get(), F_SETFL, O_NONBLOCK);
  loop_.watch(read_end_.get(), EPOLLIN, [this] { read_some(); });
}

rank_output::~rank_output() {
  close();
}

void rank_output::close() {
  if (!read_end_) return;
  loop_.forget(read_end_.get());
  read_end_.reset();
}

void rank_output::read_some() {
  if (to_.closed()) return close();  // the rank finds its own output closed, as without us
  if (to_.full()) {                  // let it drain first; the rank waits in write
    loop_.forget(read_end_.get());
    loop_.after(full_wait_ms, [this] {
      if (read_end_) loop_.watch(read_end_.get(), EPOLLIN, [this] { read_some(); });
    });
    return;
  }
  std::array<char, 65536> buffer;
  const ssize_t got = read(read_end_.get(), buffer.data(), buffer.size());
  if (got < 0) return;
  if (got == 0) {
    to_.write(cutter_.finish());
    return close();
  }
  to_.write(cutter_.push({buffer.data(), static_cast<std::size_t>(got)}));
}

void rank_output::finish() {
  if (!read_end_) return;
  std::array<char, 65536> buffer;
  ssize_t got = 0;
  while ((got = read(read_end_.get(), buffer.data(), buffer.size())) > 0)
    to_.write(cutter_.push({buffer.data(), static_cast<std::size_t>(got)}));
  to_.write(cutter_.finish());
  close();
}

}  // namespace heddle::tools
