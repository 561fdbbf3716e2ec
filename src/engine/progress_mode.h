// SPDX-License-Identifier: BSD-3-Clause
// progress_mode.h - who moves a world's lanes forward, as its settings say.
#pragma once
#include <heddle/world.h>

#include "base/settings.h"

namespace heddle::engine {

[[nodiscard]] inline progress_mode mode_of(const settings& s) noexcept {
  if (s.progress == "inline") return progress_mode::inline_only;
  if (s.progress == "dedicated") return progress_mode::dedicated;
  return s.progress == "idle" ? progress_mode::idle : progress_mode::adaptive;
}

[[nodiscard]] inline const char* name_of(progress_mode m) noexcept {
  switch (m) {
    case progress_mode::inline_only:
      return "inline";
    case progress_mode::dedicated:
      return "dedicated";
    case progress_mode::idle:
      return "idle";
    case progress_mode::adaptive:
      break;
  }
  return "adaptive";
}

}  // namespace heddle::engine
