// SPDX-License-Identifier: BSD-3-Clause
// device_address.h - how a rank's devices are found, as it travels between ranks that join.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace heddle::engine {

/// How a rank is found by one of its devices. What is read from a peer's list points into it.
struct device_address {
  std::string_view name;             ///< at most 255 bytes
  std::uint16_t lanes = 0;           ///< that the device has; 0: there is no such device
  std::span<const std::byte> bytes;  ///< for the device of the same name, at most 65535
};

/// Behind what `list` has: the name's length (1 byte), the name, lanes and length of the address (2
/// bytes each, low byte first), the address.
void append(std::vector<std::byte>& list, const device_address& a);
/// Takes the first off `list`; nothing where no whole one follows. The list may be a hostile one.
[[nodiscard]] std::optional<device_address> take(std::span<const std::byte>& list);
/// The one of this name; without lanes where there is none.
[[nodiscard]] device_address find(std::span<const std::byte> list, std::string_view name);
[[nodiscard]] bool has_several(std::span<const std::byte> list);

}  // namespace heddle::engine
