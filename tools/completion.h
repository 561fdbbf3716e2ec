// SPDX-License-Identifier: BSD-3-Clause
// completion.h - writes a shell's completion script for a command line that CLI11 describes.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace heddle::tools {

/// For "bash", "zsh" or "fish". Knows all commands, those within commands, all options and, where
/// they are listed, an option's values; elsewhere it offers files.
[[nodiscard]] std::string completion(const CLI::App& app, const std::string& shell);

}  // namespace heddle::tools
