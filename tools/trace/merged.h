// SPDX-License-Identifier: BSD-3-Clause
// merged.h - the traces of several ranks in one, on one time line.
#pragma once
#include <nlohmann/json.hpp>
#include <vector>

namespace heddle::tools {

/// Ranks of one host share a clock. Those of another host are moved by what the wall clocks of the
/// two say, which is as good as these are set (NTP: about a millisecond).
[[nodiscard]] nlohmann::json merged(std::vector<nlohmann::json> traces);

}  // namespace heddle::tools
