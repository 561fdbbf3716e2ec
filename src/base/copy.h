// SPDX-License-Identifier: BSD-3-Clause
// copy.h - copying a few bytes, whose number only the run knows.
#pragma once
#include <array>
#include <cstddef>
#include <cstring>
#include <span>

namespace heddle {

namespace detail {
/// The first and the last `Part` bytes, which together are all of them.
template <std::size_t Part>
void copy_ends(std::byte* to, std::span<const std::byte> from) noexcept {
  std::array<std::byte, Part> first, last;
  std::memcpy(first.data(), from.data(), Part);
  std::memcpy(last.data(), from.data() + from.size() - Part, Part);
  std::memcpy(to, first.data(), Part);
  std::memcpy(to + from.size() - Part, last.data(), Part);
}
}  // namespace detail

/// What copy_short() takes.
inline constexpr std::size_t most_short = 48;

/// At most most_short bytes, without a call. The two do not overlap.
[[gnu::always_inline]] inline void copy_short(std::byte* to,
                                              std::span<const std::byte> from) noexcept {
  const std::size_t bytes = from.size();
  if (bytes >= 8) {
    if (bytes <= 16) [[likely]]
      return detail::copy_ends<8>(to, from);
    if (bytes > 32) detail::copy_ends<16>(to, from.first(32));
    detail::copy_ends<16>(to, from);
  } else if (bytes >= 4) {
    detail::copy_ends<4>(to, from);
  } else {
    for (std::size_t i = 0; i < bytes; ++i) to[i] = from[i];
  }
}

/// Messages are mostly a few words: calling memcpy would cost more than the copying. The two do not
/// overlap; neither is looked at when `from` is empty.
[[gnu::always_inline]] inline void copy_few(std::byte* to,
                                            std::span<const std::byte> from) noexcept {
  if (from.size() > most_short) [[unlikely]]
    std::memcpy(to, from.data(), from.size());
  else
    copy_short(to, from);
}

}  // namespace heddle
