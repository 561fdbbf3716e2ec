// SPDX-License-Identifier: BSD-3-Clause
// slow_cables.h - the cables that explain why many pairs are slow, where routes are known.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "linktest/diagnose/additive_model.h"

namespace heddle::linktest {

/// A cable of which most pairs that cross it are slow, whoever their ends are.
struct slow_cable {
  std::uint32_t cable = 0;
  double factor = 1, chance = 1;  ///< how slow; how likely the slowest is in a healthy network
  std::uint32_t crossed = 0, slow = 0;  ///< observations
  std::vector<std::uint32_t> examples;  ///< some of its slow observations, by index
  std::vector<std::uint32_t> twins;     ///< cables that the same slow pairs cross
};

/// The fewest that explain the slow observations which have one: first the cable that most of them
/// cross, then among what it leaves. Cables come before ports, since near a slow cable most of a
/// node's routes may cross it; what has one node at most of its ends is left to ports and pairs.
/// None where routes are not known.
[[nodiscard]] std::vector<slow_cable> find_slow_cables(const additive_model& fit,
                                                       std::span<const observation> seen,
                                                       const surroundings& where);

/// Whether messages between two nodes cross one of `cables`.
[[nodiscard]] bool crosses_any(std::span<const slow_cable> cables, const surroundings& where,
                               int from, int to);

}  // namespace heddle::linktest
