// SPDX-License-Identifier: BSD-3-Clause
// interfaces.h - which of this host's addresses the rails use.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "backends/tcp/address.h"

namespace heddle::transport::tcp {

/// Most rails of a process.
inline constexpr std::size_t max_rails = 8;

/// An address of an interface that is up.
struct interface_address {
  std::string name;
  rail_address address;
  bool is_bridge = false;  ///< as those to which containers and virtual machines are connected
};

/// Where one rail listens, best first, and whether its connections have to leave from there;
/// otherwise the system's routes decide.
struct rail {
  std::vector<rail_address> addresses;
  bool bound = true;
};

/// What the kernel says, in its order. Throws heddle::error.
[[nodiscard]] std::vector<interface_address> list_interfaces();

/// The rails for `wanted` (HEDDLE_TCP_IFACE): a comma list of interface names, addresses and
/// subnets, each one a rail; and of such with a "!" before them, which are left out wherever they
/// would be meant, and need not be there. A subnet stands for this host's addresses in it. A name
/// stands for all addresses of its interface, IPv4 first, but for link-local ones where there are
/// others; of loopback for one. Empty, or nothing but "!": one rail of all that is beside loopback,
/// bridges last, of which peers find out what leads here; or else loopback. A rail has
/// max_addresses at most. Throws heddle::error that names what there is, when there is no such
/// interface or address.
[[nodiscard]] std::vector<rail> choose_rails(const std::string& wanted,
                                             std::vector<interface_address> present);

}  // namespace heddle::transport::tcp
