// SPDX-License-Identifier: BSD-3-Clause
// rank_memory.h - a rank's own parts of the plan's areas, and its ways to those of others.
#pragma once
#include <heddle/heddle.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "fuzz/board.h"
#include "fuzz/plan.h"

namespace heddle::fuzz {

/// Only one thread changes it, while no other looks.
class rank_memory {
 public:
  rank_memory(const plan& p, const board& facts, world& w) : plan_(p), facts_(facts), world_(w) {}

  /// Makes what the plan has from this phase on. Collective. Throws error.
  void make(int phase);
  /// Finds the ways to what others have made meanwhile. Throws error.
  void import(int phase);
  /// Compares this rank's parts with what the plan says for the end of the phase.
  void check(int phase) const;
  /// Withdraws what ends with this phase; addresses of it stay, for those who use them wrongly.
  void withdraw(int phase);
  void end(int area_id) { here_.erase(area_id); }

  /// An offset into an area; a null target when the area was never made.
  [[nodiscard]] remote_address at(int area_id, int owner, std::uint64_t offset) const;
  /// Empty where this rank has no part of it.
  [[nodiscard]] std::span<std::byte> local(int area_id) const;

 private:
  struct part {
    std::vector<std::byte> own;  // exposed
    std::optional<symmetric<std::byte>> shared;
    region one;
    bool ended = false;
  };

  [[nodiscard]] bool mine(const area& a) const {
    return a.owner == all_ranks || a.owner == world_.rank();
  }
  void make(const area& a);
  void check(const area& a, int phase) const;

  const plan& plan_;
  const board& facts_;
  world& world_;
  std::map<int, part> here_;
  std::map<std::pair<int, int>, remote_region> imported_;  // by area and owner
};

}  // namespace heddle::fuzz
