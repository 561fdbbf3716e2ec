// SPDX-License-Identifier: BSD-3-Clause
// work_id.h - what a completion names.
#pragma once
#include <cstdint>

namespace heddle::transport::verbs {

class work_id {
 public:
  enum class kind_t : std::uint8_t { flight, word, arrival };
  constexpr work_id(kind_t kind, std::uint8_t generation, std::uint32_t number,
                    std::uint32_t position) noexcept
      : bits_(static_cast<std::uint64_t>(kind) << 62 | std::uint64_t{generation} << 54 |
              std::uint64_t{number & 0x3f'ffff} << 32 | position) {}
  explicit constexpr work_id(std::uint64_t bits) noexcept : bits_(bits) {}
  /// This one is of position 0: the same of another position.
  [[nodiscard]] constexpr work_id at(std::uint32_t position) const noexcept {
    return work_id(bits_ | position);
  }
  /// They differ in their positions at most.
  [[nodiscard]] constexpr bool is_beside(work_id other) const noexcept {
    return (bits_ ^ other.bits_) >> 32 == 0;
  }

  [[nodiscard]] constexpr std::uint64_t bits() const noexcept { return bits_; }
  [[nodiscard]] constexpr kind_t kind() const noexcept { return static_cast<kind_t>(bits_ >> 62); }
  [[nodiscard]] constexpr std::uint8_t generation() const noexcept {
    return static_cast<std::uint8_t>(bits_ >> 54);
  }
  /// Of the stream, the inlet, or the slot.
  [[nodiscard]] constexpr std::uint32_t number() const noexcept { return bits_ >> 32 & 0x3f'ffff; }
  [[nodiscard]] constexpr std::uint32_t position() const noexcept {
    return static_cast<std::uint32_t>(bits_);
  }

 private:
  std::uint64_t bits_;
};

}  // namespace heddle::transport::verbs
