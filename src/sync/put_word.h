// SPDX-License-Identifier: BSD-3-Clause
// put_word.h - a peer's put of one word, as its owner carries it out.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace heddle::sync {

template <class T>
bool put_word(std::byte* to, const std::byte* from) noexcept {
  if (reinterpret_cast<std::uintptr_t>(to) % sizeof(T) != 0) return false;
  T word;
  std::memcpy(&word, from, sizeof word);
  std::atomic_ref<T>(*reinterpret_cast<T*>(to))
      .store(word, std::memory_order_release);  // pairs with detail::read_shared()
  return true;
}

/// One of 4 or 8 bytes is written as a whole, and after everything that was put before it, for
/// those who wait for it (lane::wait_until). False: it is no such word, and nothing was written.
inline bool put_if_word(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  return (bytes == 8 && put_word<std::uint64_t>(to, from)) ||
         (bytes == 4 && put_word<std::uint32_t>(to, from));
}

}  // namespace heddle::sync
