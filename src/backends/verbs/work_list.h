// SPDX-License-Identifier: BSD-3-Clause
// work_list.h - flights of a stream as work requests of its queue pair: one list, one doorbell.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/verbs/slots.h"
#include "backends/verbs/stream.h"

namespace heddle::transport::verbs {

/// What a completion names.
class work_id {
 public:
  enum class kind_t : std::uint8_t { flight, word, arrival };
  constexpr work_id(kind_t kind, std::uint8_t generation, std::uint32_t number,
                    std::uint32_t position) noexcept
      : bits_(static_cast<std::uint64_t>(kind) << 62 | std::uint64_t{generation} << 54 |
              std::uint64_t{number & 0x3f'ffff} << 32 | position) {}
  explicit constexpr work_id(std::uint64_t bits) noexcept : bits_(bits) {}
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

/// The immediate value of what arrives: of a message, the number of the inlet that it comes to; of
/// a word from an inlet, the number of the stream that it is about, and this bit.
inline constexpr std::uint32_t word_bit = 0x8000'0000;

class work_list {
 public:
  /// For streams of up to `depth` flights.
  work_list(std::uint32_t depth, std::uint32_t slots_key, std::uint32_t max_inline);

  /// Issues all that the stream has not issued; `tell`: and something will tell of their end soon.
  /// Returns how many; not all: the card has no room now.
  std::uint32_t post(stream& s, bool tell) noexcept;

 private:
  bool describe(stream& s, std::uint32_t position, ibv_send_wr& w) const noexcept;
  static void act(const flight& f, ibv_send_wr& w) noexcept;

  const std::uint32_t slots_key_, max_inline_;
  std::vector<ibv_send_wr> works_;
  std::vector<ibv_sge> parts_;  // of each request
};

}  // namespace heddle::transport::verbs
