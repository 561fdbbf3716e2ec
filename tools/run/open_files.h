// SPDX-License-Identifier: BSD-3-Clause
// open_files.h - room for the descriptors that a launcher of many ranks needs.
#pragma once
#include <sys/resource.h>

namespace heddle::tools {

/// While it lives, this process may have as many open files as it is allowed to ask for. One
/// thread.
class open_files {
 public:
  open_files();  ///< throws error
  ~open_files() { setrlimit(RLIMIT_NOFILE, &found_); }
  open_files(const open_files&) = delete;
  open_files& operator=(const open_files&) = delete;

  /// The limit as it was, which is what children should get.
  [[nodiscard]] const rlimit& found() const noexcept { return found_; }

 private:
  rlimit found_{};
};

}  // namespace heddle::tools
