// SPDX-License-Identifier: BSD-3-Clause
#include "run/open_files.h"

#include <algorithm>
#include <cerrno>

#include "run/failure.h"

namespace heddle::tools {
namespace {

constexpr rlim_t plenty = 1u << 20;  ///< four per rank are needed, three per host

}  // namespace

open_files::open_files() {
  if (getrlimit(RLIMIT_NOFILE, &found_) != 0) fail_errno(errno, "read the open files limit");
  const rlimit more{std::max(found_.rlim_cur, std::min(found_.rlim_max, plenty)), found_.rlim_max};
  setrlimit(RLIMIT_NOFILE, &more);  // else: whoever runs out says so
}

}  // namespace heddle::tools
