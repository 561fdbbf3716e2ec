// SPDX-License-Identifier: BSD-3-Clause
// bytes.h - integers to and from the little-endian bytes that travel between processes.
#pragma once
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>

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

}  // namespace heddle::transport::tcp
