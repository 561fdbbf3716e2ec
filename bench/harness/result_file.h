// SPDX-License-Identifier: BSD-3-Clause
// result_file.h - files that --json and --markdown name: proved before measuring, written after.
#pragma once
#include <string>

namespace heddle::bench {

/// Throws std::runtime_error with cause and cure when `path`, given by `option`, can not be
/// written. Nothing is changed or left behind. An empty path stands for no file.
void check_writable(const std::string& path, const std::string& option);

/// Writes or replaces the file. Throws std::runtime_error with the cause.
void write_file(const std::string& path, const std::string& text);

}  // namespace heddle::bench
