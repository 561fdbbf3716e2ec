// bytes.h - integers to and from the little-endian bytes that travel between processes.
#pragma once
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace heddle::wire {

template <std::unsigned_integral T>
[[nodiscard]] constexpr T swapped_bytes(T value) noexcept {
  T out = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    out = static_cast<T>((out << 8) | (value & 0xff));
    value = static_cast<T>(value >> 8);
  }
  return out;
}

/// The integer in the sizeof(T) bytes at `at`, of any alignment.
template <std::unsigned_integral T>
[[nodiscard]] inline T load_le(const std::byte* at) noexcept {
  T value;
  std::memcpy(&value, at, sizeof value);
  if constexpr (std::endian::native == std::endian::big && sizeof(T) > 1)
    value = swapped_bytes(value);
  return value;
}

template <std::unsigned_integral T>
inline void store_le(std::byte* at, T value) noexcept {
  if constexpr (std::endian::native == std::endian::big && sizeof(T) > 1)
    value = swapped_bytes(value);
  std::memcpy(at, &value, sizeof value);
}

}  // namespace heddle::wire
