// SPDX-License-Identifier: BSD-3-Clause
// layout.h - text and pictures within the columns of a terminal.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace heddle::linktest {

/// Pictures beside each other where they fit into `width` columns, otherwise below each other.
[[nodiscard]] std::string side_by_side(const std::vector<std::string>& pictures, int width);

/// `text` in lines of at most `width` columns, broken between words; later ones begin with `indent`
/// spaces.
[[nodiscard]] std::string wrapped(std::string_view text, int width, int indent);

}  // namespace heddle::linktest
