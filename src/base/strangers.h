// SPDX-License-Identifier: BSD-3-Clause
// strangers.h - how many clients may be connected at a time before they have proved who they are.
#pragma once
#include <sys/resource.h>

#include <algorithm>
#include <cstddef>

namespace heddle {

/// `most`, or a quarter of the descriptors that this process may open: the job needs some, too.
[[nodiscard]] inline std::size_t strangers_at_a_time(std::size_t most) noexcept {
  rlimit descriptors{};
  if (getrlimit(RLIMIT_NOFILE, &descriptors) != 0) return most;
  return static_cast<std::size_t>(std::clamp<rlim_t>(descriptors.rlim_cur / 4, 1, most));
}

}  // namespace heddle
