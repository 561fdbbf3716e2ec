// SPDX-License-Identifier: BSD-3-Clause
// match_buckets.h - where a source and a tag are looked for, among receives and among messages.
#pragma once
#include <heddle/types.h>

#include <cstddef>
#include <cstdint>

namespace heddle::protocols {

inline constexpr std::size_t match_buckets = 1024;

[[nodiscard]] inline std::size_t match_bucket(rank source, tag t) noexcept {
  const std::uint64_t mixed =
      (t ^ (static_cast<std::uint64_t>(source) << 40)) * 0x9e3779b97f4a7c15;  // golden ratio
  return mixed >> 54;  // the upper 10 bits are the best mixed
}

/// One source and one tag: it is looked for in one bucket. Anything else takes a look at all.
[[nodiscard]] inline bool is_exact(rank source, const tag_match& match) noexcept {
  return source != any_source && match.exact();
}

}  // namespace heddle::protocols
