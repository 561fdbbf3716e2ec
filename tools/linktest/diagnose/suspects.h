// SPDX-License-Identifier: BSD-3-Clause
// suspects.h - what stands out in the first measurement: ports and pairs that noise of a healthy
// network does not explain.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "linktest/diagnose/additive_model.h"
#include "linktest/diagnose/slow_cables.h"

namespace heddle::linktest {

/// A port whose pairs are slow.
struct slow_port {
  port at;
  double factor = 1, chance = 1;        ///< how slow; how likely in a healthy network
  std::vector<std::uint32_t> examples;  ///< some of its slow observations, by index
};
/// A pair that is slower than its two ports explain.
struct slow_pair_seen {
  std::uint32_t observation = 0;  ///< its index
  double factor = 1, chance = 1;
};

struct suspects {
  std::vector<slow_port> ports;  ///< each list: the least likely to be noise first
  std::vector<slow_pair_seen> pairs;
  std::vector<slow_cable> cables;  ///< from find_slow_cables()
  [[nodiscard]] bool none() const noexcept {
    return ports.empty() && pairs.empty() && cables.empty();
  }
};

/// Everything that is slower by where.least_factor and stands out from noise, all ports and pairs
/// being tested: of what is found, 1 in 100 is expected to be noise (where noise is normal).
[[nodiscard]] suspects find_suspects(const additive_model& fit, std::span<const observation> seen,
                                     const surroundings& where);

}  // namespace heddle::linktest
