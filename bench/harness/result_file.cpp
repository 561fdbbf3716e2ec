// SPDX-License-Identifier: BSD-3-Clause
// result_file.cpp - opening and writing with the system's reason when it fails.
#include "harness/result_file.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>

namespace heddle::bench {
namespace {

/// Opens `path` and writes `text`: 0, or errno.
int open_and_write(const std::string& path, const char* how, const std::string& text) {
  std::FILE* const file = std::fopen(path.c_str(), how);
  if (file == nullptr) return errno;
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const int why = errno;
  return std::fclose(file) != 0 ? errno : written ? 0 : why;
}

}  // namespace

void check_writable(const std::string& path, const std::string& option) {
  if (path.empty()) return;
  const bool is_there = access(path.c_str(), F_OK) == 0;
  const std::string some_room(is_there ? 0 : 4096, ' ');  // what is there keeps its content
  const int problem = open_and_write(path, "ae", some_room);
  if (!is_there) unlink(path.c_str());
  if (problem != 0) {
    throw std::runtime_error(fmt::format("cannot write '{}': {}; choose another file with {}", path,
                                         std::strerror(problem), option));
  }
}

void write_file(const std::string& path, const std::string& text) {
  if (const int problem = open_and_write(path, "we", text); problem != 0) {
    throw std::runtime_error(fmt::format("cannot write '{}': {}; what was measured is above", path,
                                         std::strerror(problem)));
  }
}

}  // namespace heddle::bench
