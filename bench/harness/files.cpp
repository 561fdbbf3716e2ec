// SPDX-License-Identifier: BSD-3-Clause
// files.cpp - writing, with the system's reason when it fails; making, locking and sweeping
// folders.
#include "harness/files.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <system_error>

namespace heddle::bench {
namespace {

namespace fs = std::filesystem;

/// Opens `path` and writes `text`: 0, or errno.
int open_and_write(const std::string& path, const char* how, const std::string& text) {
  std::FILE* const file = std::fopen(path.c_str(), how);
  if (file == nullptr) return errno;
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const int why = errno;
  return std::fclose(file) != 0 ? errno : written ? 0 : why;
}

constexpr const char* places[] = {"/dev/shm", "/tmp"};
constexpr const char* beginning = "heddle-scratch-";

/// Not valid: somebody else holds it, or it is not ours to open.
bare::unique_fd lock(const std::string& folder) {
  bare::unique_fd fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (fd.get() >= 0 && flock(fd.get(), LOCK_EX | LOCK_NB) != 0) fd.reset();
  return fd;
}

/// What can not be removed does no harm.
void remove_folder(const fs::path& folder) noexcept {
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}

void sweep(const char* place) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(place, ignored)) {
    if (!entry.path().filename().string().starts_with(beginning)) continue;
    if (lock(entry.path()).get() >= 0) remove_folder(entry.path());
  }
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

scratch_folder::scratch_folder() {
  for (const char* const place : places) {
    sweep(place);
    // More than once: somebody's sweep may come between making and locking.
    for (int attempt = 0; attempt < 3 && lock_.get() < 0; ++attempt) {
      path_ = std::string(place) + '/' + beginning + "XXXXXX";
      if (mkdtemp(path_.data()) != nullptr) lock_ = lock(path_);
    }
    if (lock_.get() >= 0 && fs::exists(path_)) return;
    lock_.reset();
  }
  throw std::runtime_error("there is no room for files in /dev/shm or /tmp");
}

scratch_folder::~scratch_folder() {
  remove_folder(path_);
}

}  // namespace heddle::bench
