// SPDX-License-Identifier: BSD-3-Clause
// terminal.h - what the screen can show: colours, width, and whether anyone is watching.
#pragma once
#include <functional>

#include "linktest/draw/palette.h"
#include "linktest/options.h"

namespace heddle::linktest {

/// The environment by name, null when unset: std::getenv, or a table in tests.
using environment = std::function<const char*(const char*)>;

/// Colours for standard output. automatic: only on a terminal, and not when NO_COLOR is set or TERM
/// is dumb. All of 24 bits when COLORTERM promises them, else the 256 indexed ones.
[[nodiscard]] color_depth choose_colors(color_choice wish, bool on_terminal,
                                        const environment& get);

/// Columns of the terminal at `descriptor`; COLUMNS when it is none; else 80. At least 40.
[[nodiscard]] int columns_of(int descriptor, const environment& get);

/// Replaces every "automatic" in `wish` by what this process's own terminal says.
[[nodiscard]] options resolve_terminal(options wish);

}  // namespace heddle::linktest
