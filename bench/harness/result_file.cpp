// SPDX-License-Identifier: BSD-3-Clause
// result_file.cpp - opening and writing with the system's reason when it fails.
#include "harness/result_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string_view>

#include "parts/system.h"

namespace heddle::bench {
namespace {

/// 0, or errno.
int write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

/// Opens `path` and writes `text`: 0, or errno.
int open_and_write(const std::string& path, int how, std::string_view text) {
  const bare::unique_fd file(open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC | how, 0666));
  return file.get() < 0 ? errno : write_all(file.get(), text);
}

}  // namespace

void check_writable(const std::string& path, const std::string& option) {
  if (path.empty()) return;
  const bool is_there = access(path.c_str(), F_OK) == 0;
  const std::string some_room(is_there ? 0 : 4096, ' ');  // what is there keeps its content
  const int problem = open_and_write(path, 0, some_room);
  if (!is_there) unlink(path.c_str());
  if (problem != 0) {
    throw std::runtime_error(fmt::format("cannot write '{}': {}; choose another file with {}", path,
                                         std::strerror(problem), option));
  }
}

void write_file(const std::string& path, const std::string& text) {
  if (const int problem = open_and_write(path, O_TRUNC, text); problem != 0) {
    throw std::runtime_error(fmt::format("cannot write '{}': {}; what was measured is above", path,
                                         std::strerror(problem)));
  }
}

}  // namespace heddle::bench
