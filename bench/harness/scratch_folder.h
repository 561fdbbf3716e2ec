// SPDX-License-Identifier: BSD-3-Clause
// scratch_folder.h - a folder for the files of a program that may be killed before it removes them.
#pragma once
#include <string>

#include "parts/system.h"

namespace heddle::bench {

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
