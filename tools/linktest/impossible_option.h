// SPDX-License-Identifier: BSD-3-Clause
// impossible_option.h - options that are right by themselves, but not for this job.
#pragma once
#include <heddle/world.h>

#include <string>

#include "linktest/options.h"

namespace heddle::linktest {

/// An option that this job cannot honour, in words; empty when all can be. What is the same for all
/// ranks is said by rank 0. `chosen` has the halves for this job.
[[nodiscard]] std::string impossible_option(const options& chosen, const world& job);

}  // namespace heddle::linktest
