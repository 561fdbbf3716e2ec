// SPDX-License-Identifier: BSD-3-Clause
// launched.h - membership in a job started by `heddle run`.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "bootstrap/bootstrap.h"

namespace heddle::bootstrap {

/// Joins over the inherited socket whose number is `fd_text` (the value of HEDDLE_BOOT_FD).
/// `limit_ms` is join()'s. Throws error: not that socket, the launcher is gone, silent or refuses.
[[nodiscard]] std::unique_ptr<session> join_launched(const std::string& fd_text,
                                                     std::uint64_t limit_ms);

}  // namespace heddle::bootstrap
