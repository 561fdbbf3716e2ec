// SPDX-License-Identifier: BSD-3-Clause
// utofu_paths.h - what heddle_paths does over utofu, done by uTofu itself: what is left of a path's
// instructions when Heddle is taken away.
#pragma once
#include <functional>
#include <map>
#include <string>

namespace heddle::paths {

/// By name, `raw-` and the path of Heddle's they stand beside; so many operations each. Empty where
/// there is no uTofu.
[[nodiscard]] const std::map<std::string, std::function<void(long)>>& raw_paths();

}  // namespace heddle::paths
