// completion.h - writes a shell's completion script for a command line that CLI11 describes.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace heddle::tools {

/// For bash. Knows all commands, options and, where they are listed, an option's values.
[[nodiscard]] std::string bash_completion(const CLI::App& app);

}  // namespace heddle::tools
