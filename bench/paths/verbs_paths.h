// SPDX-License-Identifier: BSD-3-Clause
// verbs_paths.h - what heddle_paths does over verbs, done by libibverbs itself: what is left of a
// path's instructions when Heddle is taken away.
#pragma once
#include <functional>
#include <map>
#include <string>

namespace heddle::paths {

/// By name, `verbs-` and the path of Heddle's they stand beside; so many operations each, on the
/// first port of the first card, which talks to itself.
[[nodiscard]] const std::map<std::string, std::function<void(long)>>& verbs_paths();

}  // namespace heddle::paths
