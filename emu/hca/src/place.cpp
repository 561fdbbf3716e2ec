// SPDX-License-Identifier: BSD-3-Clause
// place.cpp - see place.h.
#include "place.h"

#include <endian.h>

#include <cstring>

#include "capacity.h"

namespace hca {

namespace {

constexpr unsigned ports_per_node = max_devices * max_ports;

unsigned number_of(const place& at) noexcept {
  return at.node * ports_per_node + at.device * max_ports + (at.port - 1U);
}

place place_of(unsigned number) noexcept {
  return {static_cast<std::uint8_t>(number / ports_per_node),
          static_cast<std::uint8_t>(number / max_ports % max_devices),
          static_cast<std::uint8_t>(number % max_ports + 1)};
}

constexpr std::uint64_t guid_base = 0x0255'4843'0000'0000;  // locally administered
constexpr std::uint64_t link_local = 0xfe80'0000'0000'0000;

}  // namespace

std::uint16_t lid_of(const place& at, link_layer link) noexcept {
  return link == link_layer::ib ? static_cast<std::uint16_t>(number_of(at) + 1) : 0;
}

std::uint64_t guid_of(const place& at) noexcept {
  return guid_base + number_of(at) + 1;
}

union ibv_gid gid_of(const place& at, int index) noexcept {
  union ibv_gid gid {};
  if (index < 2) {
    gid.global.subnet_prefix = htobe64(link_local);
    gid.global.interface_id = htobe64(guid_of(at));
    return gid;
  }
  gid.raw[10] = gid.raw[11] = 0xff;  // ::ffff:10.96.x.y
  gid.raw[12] = 10;
  gid.raw[13] = 96;
  const unsigned number = number_of(at) + 1;
  gid.raw[14] = static_cast<std::uint8_t>(number >> 8);
  gid.raw[15] = static_cast<std::uint8_t>(number);
  return gid;
}

ibv_gid_type gid_type_of(int index, link_layer link) noexcept {
  if (link == link_layer::ib) return IBV_GID_TYPE_IB;
  return index % 2 == 0 ? IBV_GID_TYPE_ROCE_V1 : IBV_GID_TYPE_ROCE_V2;
}

int gids_of(link_layer link) noexcept {
  return link == link_layer::ib ? 1 : gids_per_port;
}

std::optional<place> find_place(const ibv_ah_attr& to, link_layer link) noexcept {
  constexpr unsigned numbers = max_nodes * ports_per_node;
  unsigned number = 0;
  if (link == link_layer::ib) {
    number = to.dlid;  // also with a GRH: packets within a subnet go by it
  } else if (to.is_global != 0) {
    const union ibv_gid& gid = to.grh.dgid;
    number = gid.global.subnet_prefix == htobe64(link_local)
                 ? static_cast<unsigned>(be64toh(gid.global.interface_id) - guid_base)
                 : static_cast<unsigned>(gid.raw[14]) << 8 | gid.raw[15];
    if (number < 1 || number > numbers) return std::nullopt;
    const place at = place_of(number - 1);
    if (std::memcmp(gid_of(at, 0).raw, gid.raw, 16) != 0 &&
        std::memcmp(gid_of(at, 2).raw, gid.raw, 16) != 0)
      return std::nullopt;
  }
  if (number < 1 || number > numbers) return std::nullopt;
  return place_of(number - 1);
}

}  // namespace hca
