// SPDX-License-Identifier: BSD-3-Clause
// lone_path.h - for tests: a path to the wire without a port, for protocols that only own requests.
#pragma once
#include <cstddef>
#include <string>

#include "protocols/operations.h"
#include "protocols/path.h"

namespace heddle::test {

struct lone_path {
  /// Who is lost is of no interest.
  struct forgetful final : protocols::path::loser {
    void lose(protocols::peer&, std::string) override {}
  };
  explicit lone_path(std::size_t most) : ops(most) {}

  protocols::operations ops;
  protocols::port_counters counters;
  const protocols::path::kind_table kinds{};
  forgetful losses;
  protocols::path path{ops, counters, kinds, losses};
};

}  // namespace heddle::test
