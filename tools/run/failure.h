// SPDX-License-Identifier: BSD-3-Clause
// failure.h - throwing heddle::error with errno's meaning, and the launcher's own messages.
#pragma once
#include <fmt/format.h>
#include <heddle/status.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

namespace heddle::tools {

[[noreturn]] inline void fail_errno(int code, const std::string& what) {
  const char* meaning = strerrordesc_np(code);
  throw error(fmt::format("{}: {}", what, meaning != nullptr ? meaning : "unknown error"));
}

/// Writes one line, led by "heddle: ", to stderr in one go.
template <class... Args>
void say(fmt::format_string<Args...> text, Args&&... args) {
  const std::string line = "heddle: " + fmt::format(text, std::forward<Args>(args)...) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace heddle::tools
