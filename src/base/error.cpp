#include "base/error.h"

#include <cstring>

namespace heddle {

std::string errno_text(int code) {
  const char* name = strerrorname_np(code);
  const char* meaning = strerrordesc_np(code);
  if (name == nullptr || meaning == nullptr) return fmt::format("errno {}", code);
  return fmt::format("{} ({})", name, meaning);
}

}  // namespace heddle
