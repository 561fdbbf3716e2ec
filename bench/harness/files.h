// SPDX-License-Identifier: BSD-3-Clause
// files.h - files that --json and --markdown name: proved before measuring, written after. And a
// folder for those of a program that may be killed before it removes them.
#pragma once
#include <string>

#include "parts/system.h"

namespace heddle::bench {

/// Throws std::runtime_error with cause and cure when `path`, given by `option`, can not be
/// written. Nothing is changed or left behind. An empty path stands for no file.
void check_writable(const std::string& path, const std::string& option);

/// Writes or replaces the file. Throws std::runtime_error with the cause.
void write_file(const std::string& path, const std::string& text);

/// In memory where possible. Gone with the object; one whose process was killed is removed by the
/// next to come: a lock on each folder tells whether its process lives.
class scratch_folder {
 public:
  /// Throws std::runtime_error when there is no place for it.
  scratch_folder();
  ~scratch_folder();
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
  bare::unique_fd lock_;
};

}  // namespace heddle::bench
