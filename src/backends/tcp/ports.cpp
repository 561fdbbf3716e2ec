// SPDX-License-Identifier: BSD-3-Clause
// ports.cpp - ports within a range, and addresses that others see.
#include "backends/tcp/ports.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>
#include <sstream>

#include "backends/tcp/socket.h"
#include "base/error.h"

namespace heddle::transport::tcp {
namespace {

std::optional<std::uint16_t> port_of(const std::string& text) {
  std::uint16_t port = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, port);
  if (problem != std::errc{} || stop != end || port == 0) return std::nullopt;
  return port;
}

}  // namespace

port_range parse_ports(const std::string& text) {
  if (text.empty()) return {};
  const auto dash = text.find('-');
  const auto first = port_of(text.substr(0, dash));
  const auto last = dash == std::string::npos ? first : port_of(text.substr(dash + 1));
  if (!first || !last || *last < *first)
    fail("HEDDLE_TCP_PORTS={}: give a port or a range of ports, such as 7000-7099", text);
  return {*first, *last};
}

unique_fd listen_within(rail_address& where, port_range ports, std::uint32_t number) {
  if (ports.first == 0) return listen_at(where);
  const std::uint32_t count = std::uint32_t{ports.last} - ports.first + 1;
  for (std::uint32_t i = 0; i < count; ++i) {
    where.port = static_cast<std::uint16_t>(ports.first + (number + i) % count);
    if (unique_fd fd = try_to_listen_at(where); fd) return fd;
  }
  fail(
      "tcp: all ports of HEDDLE_TCP_PORTS={}-{} are taken at {}: each rank on a host needs one for "
      "each address that it listens at; give a larger range, or end what has them",
      ports.first, ports.last, where.text());
}

std::vector<std::vector<rail_address>> parse_advertised(const std::string& text,
                                                        std::size_t rails) {
  std::vector<std::vector<rail_address>> told(rails);
  std::vector<rail_address> all;
  std::istringstream items(text);
  for (std::string item; std::getline(items, item, ',');) {
    const auto address = parse_ip(item);
    if (!address) fail("HEDDLE_TCP_ADVERTISE names '{}', which is no IP address", item);
    all.push_back(*address);
  }
  if (all.empty()) return told;
  if (all.size() > max_addresses)
    fail("HEDDLE_TCP_ADVERTISE lists {} addresses; {} at most", all.size(), max_addresses);
  if (rails == 1) return {all};
  if (all.size() != rails)
    fail("HEDDLE_TCP_ADVERTISE lists {} addresses for {} rails: give one for each", all.size(),
         rails);
  for (std::size_t i = 0; i < rails; ++i) told[i] = {all[i]};
  return told;
}

std::vector<rail_address> with_ports(std::vector<rail_address> told,
                                     const std::vector<rail_address>& listening) {
  if (told.empty()) return listening;
  for (rail_address& a : told) {
    const auto same = std::ranges::find(listening, a.family, &rail_address::family);
    if (same == listening.end())
      fail(
          "HEDDLE_TCP_ADVERTISE names {}, but this rank listens at {} only: choose with "
          "HEDDLE_TCP_IFACE an interface that has an address of that IP version",
          a.text(), listening.front().text());
    a.port = same->port;
  }
  return told;
}

}  // namespace heddle::transport::tcp
