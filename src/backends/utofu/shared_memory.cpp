// SPDX-License-Identifier: BSD-3-Clause
#include "backends/utofu/shared_memory.h"

#include <cstring>

namespace heddle::transport::utofu {

namespace {

/// FNV-1a over all but the last word. Never what zero-filled memory holds.
template <class T>
std::uint32_t sum_but_last_word(const T& of) noexcept {
  std::array<std::uint8_t, sizeof(T) - sizeof(std::uint32_t)> bytes;
  std::memcpy(bytes.data(), &of, bytes.size());
  std::uint32_t sum = 0x811c'9dc5;
  for (const std::uint8_t b : bytes) sum = (sum ^ b) * 0x0100'0193;
  return sum | 1;
}

}  // namespace

std::uint32_t check_sum(const grant& g) noexcept {
  return sum_but_last_word(g);
}

}  // namespace heddle::transport::utofu
