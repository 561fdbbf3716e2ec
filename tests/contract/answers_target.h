// SPDX-License-Identifier: BSD-3-Clause
// answers_target.h - memory of every kind and in every state that a row of the table may be about.
#pragma once
#include <heddle/heddle.h>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "contract/answers.h"

namespace heddle::test {

/// What a rank has to offer. All ranks make it at the same time.
struct side {
  explicit side(world& w);
  [[nodiscard]] symmetric<std::byte>& array(rights allowed);

  world& in;
  lane on;
  std::vector<symmetric<std::byte>> arrays;    // one for each set of rights that rows have
  std::optional<symmetric<std::byte>> doomed;  // to be withdrawn
  alignas(8) std::array<std::byte, region_bytes + 8> plain{};
};

/// How often handler 1 has run, on all sides.
[[nodiscard]] int handled_calls();

enum class memory_kind { exposed, allocated, symmetric };

/// Memory of one rank, as `here` sees it, in the state that a row asks for.
class target {
 public:
  target(const answer_row& row, memory_kind kind, side& here, side& owner);
  [[nodiscard]] remote_address at() const { return start_; }
  /// Set-up has said already what is wrong.
  [[nodiscard]] bool refused() const { return refused_; }
  /// The bytes that anybody may still look at.
  [[nodiscard]] bool untouched() const;

 private:
  void take_array(const answer_row& row, side& here, side& owner);
  void make_region(const answer_row& row, memory_kind kind, side& here, side& owner);
  void import_late(side& here, const key& known);

  bool refused_ = false;
  region region_;
  remote_region imported_;
  remote_address start_;
  std::span<std::byte> memory_;
};

/// Whether a row can be about this kind of memory of this rank.
[[nodiscard]] bool exists(const answer_row& row, memory_kind kind, const side& here,
                          const side& owner);

}  // namespace heddle::test
