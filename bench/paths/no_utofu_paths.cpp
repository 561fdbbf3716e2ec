// SPDX-License-Identifier: BSD-3-Clause
// no_utofu_paths.cpp - in place of utofu_paths.cpp where Heddle is built without uTofu.
#include "paths/utofu_paths.h"

namespace heddle::paths {

const std::map<std::string, std::function<void(long)>>& raw_paths() {
  static const std::map<std::string, std::function<void(long)>> none;
  return none;
}

}  // namespace heddle::paths
