// SPDX-License-Identifier: BSD-3-Clause
// companion.h - files that come with the program heddle and lie relative to it, built or installed.
#pragma once
#include <filesystem>
#include <string>

namespace heddle::bench {

/// Where a program would be that users start, as they did this one: in bin.
[[nodiscard]] std::filesystem::path neighbour_program(const std::string& name);

/// Where a program that only heddle starts would be: in libexec.
[[nodiscard]] std::filesystem::path companion_program(const std::string& name);

/// Where a file that heddle reads would be: in share.
[[nodiscard]] std::filesystem::path companion_file(const std::string& name);

}  // namespace heddle::bench
