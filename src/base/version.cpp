// SPDX-License-Identifier: BSD-3-Clause
#include <heddle/info.h>
#include <heddle/version.h>

namespace heddle {

std::string_view version() noexcept {
  return HEDDLE_VERSION_STRING;
}

}  // namespace heddle
