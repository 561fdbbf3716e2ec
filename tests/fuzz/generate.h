// SPDX-License-Identifier: BSD-3-Clause
// generate.h - a plan from a seed.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/plan.h"

namespace heddle::fuzz {

/// What is to happen to the ranks beside their program.
enum class weather : std::uint8_t {
  fair,     ///< nothing
  stopped,  ///< ranks are stopped for some time, shorter than the peer timeout, and continued
  deadly,   ///< a rank is killed, stopped for ever, or cut off
  poor,     ///< a rank runs out of descriptors or memory
};

/// What may be asked for; the seed decides the rest.
struct wishes {
  std::optional<weather> sky;
  std::string wire;  ///< a name of wires(); empty: any
};

/// The software devices that there are.
struct devices {
  bool utofu = false, verbs = false;
};

/// Names of the ways from rank to rank: backends, and mixtures of them.
[[nodiscard]] std::vector<std::string> wires(devices there);

/// The same arguments give the same plan, and one of which the model says nothing bad.
[[nodiscard]] plan generate(std::uint64_t seed, const wishes& w, devices there);

/// The wire and weather that generate() chose, for statistics.
[[nodiscard]] std::string wire_of(const plan& p);

}  // namespace heddle::fuzz
