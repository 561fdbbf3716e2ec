// SPDX-License-Identifier: BSD-3-Clause
// parts.h - blocks of different sizes in a buffer, one per rank, some of them empty.
//
// Empty messages tell of failure, so a part without bytes is not sent: both sides know its size.
#pragma once
#include <heddle/detail/part_counts.h>

#include <cstddef>
#include <span>
#include <vector>

#include "collectives/exchange.h"

namespace heddle::collectives {

/// Where each part begins. `first`: the rank whose part lies first, the others' follow in the order
/// of ranks and around.
class layout {
 public:
  layout(const detail::part_counts& counts, rank first = 0) {
    const std::size_t n = counts.items.size();
    starts_.reserve(n + 1);
    for (std::size_t i = 0, at = 0; i <= n; ++i) {
      starts_.push_back(at);
      if (i < n) at += counts.items[(i + static_cast<std::size_t>(first)) % n] * counts.item_bytes;
    }
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return starts_.back(); }
  [[nodiscard]] int parts() const noexcept { return static_cast<int>(starts_.size()) - 1; }
  /// Parts `first` to `first + count`, in the order in which they lie.
  template <class Byte>
  [[nodiscard]] std::span<Byte> of(std::span<Byte> all, int first, int count = 1) const noexcept {
    const auto i = static_cast<std::size_t>(first), n = static_cast<std::size_t>(count);
    return all.subspan(starts_[i], starts_[i + n] - starts_[i]);
  }
  [[nodiscard]] std::size_t size(int part) const noexcept {
    const auto i = static_cast<std::size_t>(part);
    return starts_[i + 1] - starts_[i];
  }

 private:
  std::vector<std::size_t> starts_;
};

/// exchange::swap, less what is empty.
template <class Lane>
task<> swap_parts(exchange<Lane>& all, unsigned round, rank to, const_bytes data, rank from,
                  bytes into) {
  if (!data.empty() && !into.empty()) {
    const auto swapped = co_await all.swap(round, to, data, from, into);
    all.note(swapped, into.size());
  } else if (!data.empty()) {
    all.note(co_await all.send(to, round, data));
  } else if (!into.empty()) {
    all.note(co_await all.recv(from, round, into), into.size());
  }
}

/// A task of its own for each peer, so that all transfers run at the same time.
template <class Lane>
task<status> take_block(const exchange<Lane>& all, rank from, bytes into) {
  co_return judge(co_await all.recv(from, 0, into), into.size());
}
template <class Lane>
task<status> give_block(const exchange<Lane>& all, rank to, const_bytes data) {
  co_return co_await all.send(to, 0, data);
}

}  // namespace heddle::collectives
