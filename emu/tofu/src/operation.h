// SPDX-License-Identifier: BSD-3-Clause
// operation.h - a command of the TOQ, and its form as a descriptor.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ids.h"

namespace tofu {

inline constexpr std::size_t max_length = 16777215;
inline constexpr std::size_t max_piggyback = 32;
inline constexpr std::size_t max_mtu = 1920;
inline constexpr std::size_t max_gap = 255;
inline constexpr std::size_t slot_bytes = 32;  // of the TOQ

enum class command : std::uint8_t { nop, put, piggyback, get, armw, cswap };

struct operation {
  command what = command::nop;
  std::uint8_t armw = 0;   ///< utofu_armw_op
  std::uint8_t width = 0;  ///< 4 or 8, of armw and cswap
  std::uint8_t slots = 1;  ///< of the TOQ
  std::uint8_t path = 0;   ///< path id, 0: the default one
  std::uint8_t cmp = 0;    ///< of the VCQ that posts
  bool edata_fits = true;
  bool length_fits = true;
  std::uint8_t edata = 0;
  std::uint32_t length = 0;  ///< of one block
  std::uint64_t flags = 0;
  std::uint64_t vcq_id = 0;  ///< without path
  std::uint64_t lcl_stadd = 0;
  std::uint64_t rmt_stadd = 0;
  std::uint64_t stride = 0;
  std::uint64_t blocks = 1;
  std::uint16_t mtu = 0, gap = 0;  ///< 0: not given
  std::uint64_t posted_at = 0;     ///< on the poster's virtual clock
  /// piggyback: the data. armw: the operand. cswap: old, new.
  std::array<std::uint64_t, 4> words{};

  [[nodiscard]] bool has(std::uint64_t flag) const noexcept { return (flags & flag) != 0; }
  [[nodiscard]] bool is_arithmetic() const noexcept {
    return what == command::armw || what == command::cswap;
  }
  /// Bytes from the first to the last byte, strides included.
  [[nodiscard]] std::uint64_t extent() const noexcept { return (blocks - 1) * stride + length; }
};

/// Slots, and so 32-byte units of a descriptor, that `op` takes.
[[nodiscard]] unsigned slots_of(const operation& op) noexcept;

/// At most two slots, see README.md about what the hardware's look like.
using descriptor = std::array<std::uint64_t, 8>;

[[nodiscard]] descriptor encode(const operation& op) noexcept;
/// Takes the first descriptor off `bytes`. False: it is none.
[[nodiscard]] bool decode(std::span<const std::byte>& bytes, operation& op) noexcept;

}  // namespace tofu
