// SPDX-License-Identifier: BSD-3-Clause
// json_text.h - JSON as text, whatever bytes are in it.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace heddle::tools {

/// Of one line, or indented. Bytes that are no UTF-8, as a path or a host's name may have, become
/// U+FFFD: results must not be lost for them.
template <class Json>
[[nodiscard]] std::string json_text(const Json& value, int indent = -1) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

/// The same bytes, with U+FFFD for those that are no UTF-8, for other formats.
[[nodiscard]] inline std::string utf8_text(std::string_view text) {
  return nlohmann::json::parse(json_text(nlohmann::json(text))).get<std::string>();
}

}  // namespace heddle::tools
