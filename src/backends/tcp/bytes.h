// bytes.h - integers to and from the little-endian bytes that travel between processes.
#pragma once
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace heddle::transport::tcp {

static_assert(std::endian::native == std::endian::little, "the wire format is little-endian");

/// The integer in the sizeof(T) bytes at `at`, of any alignment.
template <std::unsigned_integral T>
[[nodiscard]] inline T load_le(const std::byte* at) noexcept {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <std::unsigned_integral T>
inline void store_le(std::byte* at, T value) noexcept {
  std::memcpy(at, &value, sizeof value);
}

/// Copies `from` to `at` and returns what follows there. Few bytes cost no call: two loads and
/// stores that overlap.
inline std::byte* append(std::byte* at, std::span<const std::byte> from) noexcept {
  const std::size_t n = from.size();
  const auto ends = [&]<std::size_t Half>(std::array<std::byte, Half> head) {
    std::array<std::byte, Half> tail;
    std::memcpy(head.data(), from.data(), Half);
    std::memcpy(tail.data(), from.data() + n - Half, Half);
    std::memcpy(at, head.data(), Half);
    std::memcpy(at + n - Half, tail.data(), Half);
  };
  if (n > 32)
    std::memcpy(at, from.data(), n);
  else if (n >= 16)
    ends(std::array<std::byte, 16>{});
  else if (n >= 8)
    ends(std::array<std::byte, 8>{});
  else
    for (std::size_t i = 0; i < n; ++i) at[i] = from[i];
  return at + n;
}

}  // namespace heddle::transport::tcp
