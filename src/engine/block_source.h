// SPDX-License-Identifier: BSD-3-Clause
// block_source.h - the blocks of a transfer, by number: of a list, or of a grid.
#pragma once
#include <heddle/blocks.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "transport/op.h"

namespace heddle::engine {

struct block {
  std::span<std::byte> here;
  remote_address there;
};

/// The user's list, which stays where it is.
template <class T>
class block_list {
 public:
  explicit block_list(std::span<const T> blocks) noexcept : blocks_(blocks) {}
  [[nodiscard]] std::uint64_t count() const noexcept { return blocks_.size(); }
  [[nodiscard]] block at(std::uint64_t i) const noexcept { return of(blocks_[i]); }

 private:
  static block of(const put_block& b) noexcept { return {transport::only_read(b.from), b.to}; }
  static block of(const get_block& b) noexcept { return {b.into, b.from}; }
  std::span<const T> blocks_;
};

/// Equal blocks at strides; the last dimension counts fastest.
class block_grid {
 public:
  block_grid(std::span<std::byte> first, remote_address there,
             std::span<const stride> dimensions) noexcept
      : first_(first), there_(there), dimensions_(dimensions.size()) {
    std::copy(dimensions.begin(), dimensions.end(), strides_.begin());
    for (const stride& s : dimensions)
      count_ = s.count != 0 && count_ > most / s.count ? most + 1 : count_ * s.count;
  }
  static constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();

  /// More than `most`: too many.
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] block at(std::uint64_t i) const noexcept {
    std::ptrdiff_t here = 0, there = 0;
    for (std::size_t d = dimensions_; d-- > 0; i /= strides_[d].count) {
      const auto step = static_cast<std::ptrdiff_t>(i % strides_[d].count);
      here += step * strides_[d].here;
      there += step * strides_[d].there;
    }
    return {{first_.data() + here, first_.size()}, moved(there)};
  }

 private:
  /// Before the region's first byte is out of its bounds, as behind its last is.
  [[nodiscard]] remote_address moved(std::ptrdiff_t bytes) const noexcept {
    if (bytes >= 0) return there_ + static_cast<std::uint64_t>(bytes);
    const std::uint64_t back = -static_cast<std::uint64_t>(bytes);
    return {there_.target, back <= there_.offset ? there_.offset - back : ~std::uint64_t{0}};
  }

  std::span<std::byte> first_;
  remote_address there_;
  std::array<stride, max_strides> strides_{};
  std::size_t dimensions_;
  std::uint64_t count_ = 1;
};

}  // namespace heddle::engine
