// SPDX-License-Identifier: BSD-3-Clause
// sections.h - the parts of a run that are measured and reported each for itself.
#pragma once
#include <string>
#include <vector>

#include "linktest/options.h"

namespace heddle::linktest {

/// One combination of layer, kernel, op and mode; what differs between sections is its own.
struct section {
  std::string name;  ///< "uni-put-tcp-serial": kernel and op, and of the rest what several have
  options how;       ///< with one layer, kernel, op and mode
};

/// In the order in which they are measured, those of a layer together. One where the options ask
/// for one of each. Each has its part of --time, and of a
/// --baseline that is a folder.
[[nodiscard]] std::vector<section> sections_of(const options& chosen);

/// Of two sections' statuses the one that the run ends with: an end by a signal, then the lower
/// number that is no success.
[[nodiscard]] int worse_of(int a, int b) noexcept;

}  // namespace heddle::linktest
