// SPDX-License-Identifier: BSD-3-Clause
// host_gifts.h - what ranks give, as it is written into a store: {1, for each rank: rank, length,
// bytes}, and by a rank that others speak for {0, rank of its leader}.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bootstrap/gathered.h"

namespace heddle::bootstrap {

/// Of ranks in a row, brought together from several. One thread.
class host_gifts {
 public:
  using gifts = std::vector<std::pair<int, blob>>;
  using taker = std::function<void(int rank, std::span<const std::byte> given)>;

  /// Of ranks from `first` to before `end`, and of nobody yet.
  host_gifts(int first, int end);

  /// Of another rank, or once more: is left out.
  void add(int rank, std::span<const std::byte> given);
  [[nodiscard]] bool has(int rank) const noexcept {
    return is_ours(rank) && there_[static_cast<std::size_t>(rank - first_)];
  }
  /// As it is written. Throws error: somebody's is missing.
  [[nodiscard]] blob take();

  [[nodiscard]] static blob encode(const gifts& of_host);
  /// Gives out what is in `encoded`, which has been written for a job of `size`, rank by rank.
  /// False: it is no such thing, or not to its end.
  [[nodiscard]] static bool decode(std::span<const std::byte> encoded, int size, const taker& take);
  [[nodiscard]] static blob encode_leader(int leader);
  /// Nothing: it is what a leader has written, or makes no sense.
  [[nodiscard]] static std::optional<int> decode_leader(std::span<const std::byte> encoded);

 private:
  [[nodiscard]] bool is_ours(int rank) const noexcept {
    return rank >= first_ && static_cast<std::size_t>(rank - first_) < there_.size();
  }

  const int first_;
  std::vector<bool> there_;  // by rank, from first_
  blob written_;
};

}  // namespace heddle::bootstrap
