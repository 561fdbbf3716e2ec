// SPDX-License-Identifier: BSD-3-Clause
#include "backends/verbs/facts.h"

#include <cstring>

namespace heddle::transport::verbs {
namespace {

constexpr std::uint64_t magic = 0x3130'4142'5345'4448u;  // "HDESBA01": and the version

}  // namespace

std::vector<std::byte> to_address(const peer_facts& of) {
  std::vector<std::byte> bytes(sizeof magic + sizeof of);
  std::memcpy(bytes.data(), &magic, sizeof magic);
  std::memcpy(bytes.data() + sizeof magic, &of, sizeof of);
  return bytes;
}

std::optional<peer_facts> from_address(std::span<const std::byte> address) noexcept {
  peer_facts f;
  if (address.size() != sizeof magic + sizeof f ||
      std::memcmp(address.data(), &magic, sizeof magic) != 0)
    return std::nullopt;
  std::memcpy(&f, address.data() + sizeof magic, sizeof f);
  const bool makes_sense = f.place.mtu >= IBV_MTU_256 && f.place.mtu <= IBV_MTU_4096 &&
                           f.place.reads != 0 && f.place.by_gid <= 1;
  return makes_sense ? std::optional(f) : std::nullopt;
}

}  // namespace heddle::transport::verbs
