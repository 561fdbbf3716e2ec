// SPDX-License-Identifier: BSD-3-Clause
// place.h - where on the fabric a port is, and its addresses.
#pragma once
#include <infiniband/verbs.h>

#include <cstdint>
#include <optional>

#include "settings.h"

namespace hca {

struct place {
  std::uint8_t node = 0, device = 0, port = 1;
  bool operator==(const place&) const = default;
};

inline constexpr int gids_per_port = 4;

/// 1 and up; 0 where the fabric is Ethernet.
[[nodiscard]] std::uint16_t lid_of(const place& at, link_layer link) noexcept;
[[nodiscard]] std::uint64_t guid_of(const place& at) noexcept;
/// Index 0 and 1: link-local by the GUID; 2 and 3, RoCE only: by the IPv4 address. Of each pair the
/// first is RoCE v1, the second v2.
[[nodiscard]] union ibv_gid gid_of(const place& at, int index) noexcept;
[[nodiscard]] ibv_gid_type gid_type_of(int index, link_layer link) noexcept;
[[nodiscard]] int gids_of(link_layer link) noexcept;

/// Where an address vector leads. No value: nowhere on this fabric.
[[nodiscard]] std::optional<place> find_place(const ibv_ah_attr& to, link_layer link) noexcept;

}  // namespace hca
