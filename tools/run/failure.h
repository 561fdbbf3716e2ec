// SPDX-License-Identifier: BSD-3-Clause
// failure.h - throwing heddle::error with errno's meaning.
#pragma once
#include <fmt/format.h>
#include <heddle/status.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace heddle::tools {

[[noreturn]] inline void fail_errno(int code, const std::string& what) {
  const char* meaning = strerrordesc_np(code);
  const char* cure = code == EMFILE ? "; raise the limit of open files, ulimit -n" : "";
  throw error(fmt::format("{}: {}{}", what, meaning != nullptr ? meaning : "unknown error", cure));
}

}  // namespace heddle::tools
