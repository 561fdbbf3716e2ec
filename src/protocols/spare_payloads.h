// SPDX-License-Identifier: BSD-3-Clause
// spare_payloads.h - memory for payloads. That of large calls whose handlers have returned is kept
// for the next ones: new memory of such a size costs page faults, and a registration with the
// network card, each time.
#pragma once
#include <heddle/world.h>

#include <array>
#include <cstddef>

namespace heddle::protocols {

/// New memory for a payload of so many bytes. Null: there is none.
[[nodiscard]] payload_memory memory_for(std::size_t bytes) noexcept;

/// Of one thread. What a handler keeps for itself does not come back here; what is here is freed at
/// the thread's end.
class spare_payloads {
 public:
  static constexpr std::size_t most = 16;               ///< blocks kept
  static constexpr std::size_t most_bytes = 16 << 20;   ///< in all of them
  static constexpr std::size_t least_block = 64 << 10;  ///< smaller ones malloc has at hand

  /// As memory_for(): a spare block where there is one of that size.
  [[nodiscard]] payload_memory take(std::size_t bytes) noexcept;
  /// Keeps what was taken for so many bytes; those that have been here longest make room for it.
  void give_back(payload_memory block, std::size_t bytes) noexcept;
  [[nodiscard]] std::size_t kept_bytes() const noexcept { return bytes_; }

 private:
  struct spare {
    payload_memory block;
    std::size_t room = 0;
  };
  payload_memory take_out(std::size_t i) noexcept;

  std::array<spare, most> spares_;  // in the order in which they came back
  std::size_t count_ = 0, bytes_ = 0;
};

}  // namespace heddle::protocols
