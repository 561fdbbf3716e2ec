// SPDX-License-Identifier: BSD-3-Clause
// bare_paths.h - what heddle_paths does over a wire, done by the wire's own calls: what is left of
// a path's instructions when Heddle is taken away. Each only where Heddle is built with that wire.
#pragma once
#include <functional>
#include <map>
#include <string>

namespace heddle::paths {

/// So many operations each, by name: `raw-` or `verbs-` and the path of Heddle's they stand beside.
using bare_paths = std::map<std::string, std::function<void(long)>>;

[[nodiscard]] bare_paths utofu_paths();
/// On the first port of the first card, which talks to itself.
[[nodiscard]] bare_paths verbs_paths();

}  // namespace heddle::paths
