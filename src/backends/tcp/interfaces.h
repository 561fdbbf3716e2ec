// interfaces.h - which of this host's addresses the rails use.
#pragma once
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
};

/// What the kernel says, in its order. Throws heddle::error.
[[nodiscard]] std::vector<interface_address> list_interfaces();

/// The rails for `wanted` (HEDDLE_TCP_IFACE): a comma list of interface names and addresses, each
/// one a rail. A name stands for its first IPv4 address, or else its first IPv6 one that is not
/// link-local, or else its first. Empty: the first interface beside loopback, or else loopback.
/// Throws heddle::error that names what there is, when there is no such interface or address.
[[nodiscard]] std::vector<rail_address> choose_rails(const std::string& wanted,
                                                     const std::vector<interface_address>& present);

}  // namespace heddle::transport::tcp
