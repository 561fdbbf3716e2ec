// SPDX-License-Identifier: BSD-3-Clause
// limits.h - what this machine and this build allow, as `heddle info` shows it.
#pragma once
#include <string>
#include <vector>

namespace heddle::tools {

struct limit_row {
  std::string name, value, meaning;
};

/// Never fails: what cannot be found out is "unknown".
[[nodiscard]] std::vector<limit_row> list_limits();

}  // namespace heddle::tools
