// SPDX-License-Identifier: BSD-3-Clause
// lane_table.h - values by rank and lane, of which few exist: of a job's many ranks and their lanes
// a lane talks to some.
#pragma once
#include <heddle/types.h>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "base/paged_table.h"

namespace heddle {

/// Owns a T for some lanes of some ranks. What others cost, and threads: see paged_table.
template <class T>
class lane_table {
 public:
  /// Null: there is none, which is so for every negative number.
  [[nodiscard]] T* find(rank who, int lane) const noexcept {
    const auto at = static_cast<std::size_t>(lane);
    if (at >= lanes_.size()) [[unlikely]]
      return nullptr;
    return lanes_[at].find(static_cast<std::size_t>(who));
  }
  /// Puts one where there was none; both numbers are at least 0. Throws std::bad_alloc, and nothing
  /// has changed.
  T& insert(rank who, int lane, std::unique_ptr<T> value) {
    const auto at = static_cast<std::size_t>(lane);
    if (at >= lanes_.size()) lanes_.resize(at + 1);
    return lanes_[at].insert(static_cast<std::size_t>(who), std::move(value));
  }
  /// Drops all there are.
  void clear() noexcept { lanes_.clear(); }

 private:
  std::vector<paged_table<T>> lanes_;
};

}  // namespace heddle
