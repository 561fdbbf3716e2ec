// SPDX-License-Identifier: BSD-3-Clause
// partner.h - the other rank of a pair, outside of what is timed.
#pragma once
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

namespace heddle::bench {

/// Both functions throw std::exception when the other rank is gone.
class partner {
 public:
  virtual ~partner() = default;
  /// As many bytes as the other side hears.
  virtual void tell(std::span<const std::byte> bytes) = 0;
  /// Keeps moving what the other side may wait for.
  virtual void hear(std::span<std::byte> bytes) = 0;
};

template <class T>
void tell(partner& other, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  other.tell(std::as_bytes(std::span(&value, 1)));
}

template <class T>
T hear(partner& other) {
  T value{};
  other.hear(std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

/// The other rank's value; neither goes on before the other has come here.
template <class T>
T swap(partner& other, const T& mine) {
  tell(other, mine);
  return hear<T>(other);
}

/// The same of bytes, as many as each side has.
inline std::vector<std::byte> swap_bytes(partner& other, const std::vector<std::byte>& mine) {
  std::vector<std::byte> theirs(swap(other, mine.size()));
  other.tell(mine);
  other.hear(theirs);
  return theirs;
}

}  // namespace heddle::bench
