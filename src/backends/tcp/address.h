// SPDX-License-Identifier: BSD-3-Clause
// address.h - where a rank listens on one rail: as bytes and for the socket calls.
#pragma once
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/tcp/cipher.h"

namespace heddle::transport::tcp {

/// Most addresses of a rail.
inline constexpr std::size_t max_addresses = 8;

struct rail_address {
  int family = 4;                     ///< 4 or 6
  std::array<std::uint8_t, 16> ip{};  ///< network order; IPv4: the first four
  std::uint16_t port = 0;
  // Of our own addresses, and not sent:
  std::uint32_t scope = 0;  ///< number of the interface that a link-local address is on
  int subnet_bits = 128;    ///< how many bits all hosts of its network have in common

  friend bool operator==(const rail_address&, const rail_address&) = default;
  [[nodiscard]] bool loopback() const noexcept;
  [[nodiscard]] bool link_local() const noexcept;
  [[nodiscard]] std::string text() const;
  /// How many bits, from the first on, are those of `other`; -1: it is of the other family.
  [[nodiscard]] int bits_in_common(const rail_address& other) const noexcept;
};

/// For bind and connect.
struct socket_address {
  sockaddr_storage storage{};
  socklen_t length = 0;
  [[nodiscard]] const sockaddr* get() const noexcept {
    return reinterpret_cast<const sockaddr*>(&storage);
  }
};
[[nodiscard]] socket_address to_socket(const rail_address& a) noexcept;
/// Nothing when it is neither IPv4 nor IPv6.
[[nodiscard]] std::optional<rail_address> from_socket(const sockaddr* address) noexcept;

/// "10.0.0.1", "fd00::2", "fe80::1%eth0".
[[nodiscard]] std::optional<rail_address> parse_ip(const std::string& text);

/// "10.1.0.0/16": an address of which the first `subnet_bits` count.
[[nodiscard]] std::optional<rail_address> parse_subnet(const std::string& text);

/// Adds what is sent of `a`: family 1, port 2, ip 4 or 16.
void pack(const rail_address& a, std::vector<std::byte>& onto);
/// The one at the front of `bytes`, which it is taken off. Nothing: pack() made no such. Total.
[[nodiscard]] std::optional<rail_address> unpack(std::span<const std::byte>& bytes) noexcept;

/// What a rank tells its peers of one of its rails.
struct whereabouts {
  std::vector<rail_address> addresses;  ///< 1 to max_addresses
  algorithm_set algorithms = 0;         ///< by which it encrypts; empty: it does not
  friend bool operator==(const whereabouts&, const whereabouts&) = default;
};

/// As bytes: version 1, count 1, algorithms 1, then the addresses as by pack().
[[nodiscard]] std::vector<std::byte> encode(const whereabouts& w);
/// Nothing unless every byte is as encode() would have written it. Total.
[[nodiscard]] std::optional<whereabouts> parse_whereabouts(std::span<const std::byte> bytes);

}  // namespace heddle::transport::tcp
