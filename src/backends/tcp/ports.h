// SPDX-License-Identifier: BSD-3-Clause
// ports.h - which ports a rank listens at, and what it says of where that is: for firewalls and
// NAT.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "backends/tcp/address.h"
#include "base/fd.h"

namespace heddle::transport::tcp {

/// Ports from first to last; both 0: any that the system gives.
struct port_range {
  std::uint16_t first = 0, last = 0;
  friend bool operator==(const port_range&, const port_range&) = default;
};
/// Of "7000-7099", "7000" or "" (HEDDLE_TCP_PORTS). Throws heddle::error that says what is
/// accepted.
[[nodiscard]] port_range parse_ports(const std::string& text);

/// Listens at `where` and sets its port to one of `ports`. The first to be tried differs with
/// `number`, so that the ranks of a host seldom try the same. Throws heddle::error: all are taken,
/// or what else the system says.
[[nodiscard]] unique_fd listen_within(rail_address& where, port_range ports, std::uint32_t number);

/// What peers of each of `rails` rails are to be told instead of where it listens
/// (HEDDLE_TCP_ADVERTISE), without ports: all addresses of `text`, a comma list, of the only rail,
/// or one for each rail. Empty text: nothing. Throws heddle::error.
[[nodiscard]] std::vector<std::vector<rail_address>> parse_advertised(const std::string& text,
                                                                      std::size_t rails);
/// `told` with the port of the first in `listening` of the same family; nothing told: `listening`.
/// Throws heddle::error where there is none of the family.
[[nodiscard]] std::vector<rail_address> with_ports(std::vector<rail_address> told,
                                                   const std::vector<rail_address>& listening);

}  // namespace heddle::transport::tcp
