// cookie.h - what an operation is called while a backend has it: its address, and of what it is.
#pragma once
#include <cstdint>

#include "protocols/record.h"

namespace heddle::protocols {

inline std::uint64_t cookie_of(const record& r) noexcept {
  return reinterpret_cast<std::uintptr_t>(&r);
}
inline std::uint64_t cookie_of(const native_access& a) noexcept {
  return reinterpret_cast<std::uintptr_t>(&a) | 1;
}
inline bool is_access(std::uint64_t cookie) noexcept {
  return (cookie & 1) != 0;
}
inline record& record_of(std::uint64_t cookie) noexcept {
  return *reinterpret_cast<record*>(cookie);  // NOLINT: cookie_of() made it
}
inline native_access& access_of(std::uint64_t cookie) noexcept {
  return *reinterpret_cast<native_access*>(cookie - 1);  // NOLINT: cookie_of() made it
}

}  // namespace heddle::protocols
