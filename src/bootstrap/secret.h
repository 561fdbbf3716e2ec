// secret.h - makes the random secret of a job that has no launcher.
#pragma once
#include <array>
#include <cstddef>

namespace heddle::bootstrap {

/// 32 random bytes. Throws error when the system has no randomness.
[[nodiscard]] std::array<std::byte, 32> random_secret();

}  // namespace heddle::bootstrap
