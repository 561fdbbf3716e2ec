// SPDX-License-Identifier: BSD-3-Clause
// key_fields.h - what the bytes of a key mean.
#pragma once
#include <heddle/memory.h>
#include <heddle/types.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "memory/region_table.h"

namespace heddle::engine {

/// Where a key comes from nobody knows: what it says of bytes and rights is a promise to whoever
/// has it, and binds no owner.
struct key_fields {
  std::uint32_t magic = 0x3159454b;  // "KEY1"
  rank owner = 0;
  memory::region_ref ref;
  std::uint64_t bytes = 0;
  std::uint32_t allowed = 0;
};
static_assert(sizeof(key_fields) <= sizeof(key) && std::is_trivially_copyable_v<key_fields>);

inline key to_key(const key_fields& f) noexcept {
  key k;
  std::memcpy(k.bytes.data(), &f, sizeof f);
  return k;
}

inline key_fields from_key(const key& k) noexcept {
  key_fields f;
  std::memcpy(&f, k.bytes.data(), sizeof f);
  return f;
}

}  // namespace heddle::engine
