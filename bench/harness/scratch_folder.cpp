// SPDX-License-Identifier: BSD-3-Clause
// scratch_folder.cpp - making, locking and sweeping.
#include "harness/scratch_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <system_error>

namespace heddle::bench {
namespace {

namespace fs = std::filesystem;

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
