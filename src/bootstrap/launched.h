// launched.h - membership in a job started by `heddle run`.
#pragma once
#include <memory>
#include <string>

#include "bootstrap/bootstrap.h"

namespace heddle::bootstrap {

/// Joins over the inherited socket whose number is `fd_text` (the value of HEDDLE_BOOT_FD).
/// Throws error: not that socket, the launcher is gone or refuses.
[[nodiscard]] std::unique_ptr<session> join_launched(const std::string& fd_text);

}  // namespace heddle::bootstrap
