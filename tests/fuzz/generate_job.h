// SPDX-License-Identifier: BSD-3-Clause
// generate_job.h - the draws that generate() is made of.
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "backends/faults/chance.h"
#include "fuzz/generate.h"
#include "fuzz/plan.h"

namespace heddle::fuzz {

/// A repeatable source of decisions.
class dice {
 public:
  /// Mixed first: the source's own seeds give sequences that are parts of each other.
  explicit dice(std::uint64_t seed) : random_(transport::chance(seed).next()) {}

  /// 0 to `n` - 1.
  int below(int n) { return static_cast<int>(random_.up_to(static_cast<std::uint64_t>(n) - 1)); }
  int between(int least, int most) { return least + below(most - least + 1); }
  bool percent(unsigned chance) { return random_.percent(chance); }
  std::uint64_t any() { return random_.next(); }
  template <class T>
  T one_of(std::initializer_list<T> list) {
    return list.begin()[below(static_cast<int>(list.size()))];
  }
  template <class List>
  const auto& one_of(const List& list) {
    return list[static_cast<std::size_t>(below(static_cast<int>(list.size())))];
  }
  /// Sizes at which something changes, and those around them; at most `most`.
  std::uint64_t size(std::uint64_t most);

 private:
  transport::chance random_;
};

/// Ranks, threads, settings and lanes.
void draw_job(plan& p, dice& d, const wishes& w, devices there, weather sky);
void draw_areas(plan& p, dice& d, int phases, bool harsh);
void draw_phase(plan& p, dice& d, int phase, weather sky);
/// What is used and ended after the last phase, in any order.
void draw_end(plan& p, dice& d);

}  // namespace heddle::fuzz
