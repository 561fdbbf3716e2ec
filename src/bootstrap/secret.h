// SPDX-License-Identifier: BSD-3-Clause
// secret.h - makes the random secret of a job.
#pragma once
#include <array>
#include <cstddef>

namespace heddle::bootstrap {

using secret_bytes = std::array<std::byte, 32>;

/// 32 random bytes. Throws error when the system has no randomness.
[[nodiscard]] secret_bytes random_secret();

}  // namespace heddle::bootstrap
