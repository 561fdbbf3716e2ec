// SPDX-License-Identifier: BSD-3-Clause
// lone_path.h - for tests: a path to the wire without a port, for protocols that only own requests.
#pragma once
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "protocols/operations.h"
#include "protocols/path.h"

namespace heddle::test {

struct lone_path {
  /// Who was lost, and why.
  struct noting final : protocols::path::loser {
    void lose(protocols::peer& p, std::string why) override {
      lost.emplace_back(&p, why);
      if (also != nullptr) also->lose(p, std::move(why));
    }
    std::vector<std::pair<protocols::peer*, std::string>> lost;
    protocols::path::loser* also = nullptr;  ///< set: is told, too
  };
  explicit lone_path(std::size_t most) : ops(most) {}

  protocols::operations ops;
  protocols::port_counters counters;
  protocols::path::kind_table kinds{};  ///< a protocol that sends control messages puts itself in
  noting losses;
  protocols::path path{ops, counters, kinds, losses};
};

}  // namespace heddle::test
