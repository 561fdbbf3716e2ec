// SPDX-License-Identifier: BSD-3-Clause
// facts.h - what a process tells of itself: its address.
#pragma once
#include <heddle/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "backends/verbs/card.h"

namespace heddle::transport::verbs {

/// A process, as others know it by its address.
struct peer_facts {
  rank number = 0;
  std::uint32_t greeter = 0;  ///< its queue pair for hellos
  std::uint64_t nonce = 0;    ///< tells it from another process of the same rank
  fabric_place place;
  std::uint64_t table = 0;  ///< where its table of regions begins
  std::uint32_t table_key = 0;
  std::uint32_t pad = 0;
};
static_assert(sizeof(peer_facts) == 56);

/// By which a process's device is known in region_place::by.
[[nodiscard]] constexpr std::uint32_t name_of_places(std::uint64_t nonce) noexcept {
  return static_cast<std::uint32_t>(nonce) | 1;
}

[[nodiscard]] std::vector<std::byte> to_address(const peer_facts& of);
/// Nothing when the bytes are no address of this version. Total.
[[nodiscard]] std::optional<peer_facts> from_address(std::span<const std::byte> address) noexcept;

}  // namespace heddle::transport::verbs
