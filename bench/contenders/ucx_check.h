// SPDX-License-Identifier: BSD-3-Clause
// ucx_check.h - `heddle bench check-ucx`: whether our loops over UCX are as quick as UCX's own.
#pragma once
#include <chrono>
#include <string>
#include <vector>

namespace heddle::bench {

struct ucx_check {
  std::vector<std::string> backends{"shm", "tcp"};
  int rounds = 5;
  std::chrono::milliseconds time{200};  ///< of one round
};

/// Prints a line for each backend, kind and operation. Returns success, or incomplete when one of
/// both failed. Throws std::runtime_error naming the package when one is missing.
[[nodiscard]] int run_ucx_check(const ucx_check& o);

}  // namespace heddle::bench
