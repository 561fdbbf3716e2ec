// SPDX-License-Identifier: BSD-3-Clause
// metrics.h - `heddle info --pid P --metrics`: what a running job counts, for Prometheus.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace heddle::tools {

/// Of worlds as ask_worlds() tells of them: the text format of Prometheus. Those that could not be
/// asked are left out.
[[nodiscard]] std::string metrics_of(const nlohmann::ordered_json& worlds);

}  // namespace heddle::tools
