// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.h"

#include <cerrno>
#include <cstring>

namespace heddle {

std::string errno_text(int code) {
  const char* name = strerrorname_np(code);
  const char* meaning = strerrordesc_np(code);
  if (name == nullptr || meaning == nullptr) return fmt::format("errno {}", code);
  const char* const cure = code == EMFILE ? "; raise the limit of open files, ulimit -n" : "";
  return fmt::format("{} ({}){}", name, meaning, cure);
}

}  // namespace heddle
