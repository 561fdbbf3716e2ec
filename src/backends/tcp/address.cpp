// SPDX-License-Identifier: BSD-3-Clause
// address.cpp - rail addresses: text, bytes, and the kernel's form.
#include "backends/tcp/address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <net/if.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#include "backends/tcp/bytes.h"

namespace heddle::transport::tcp {
namespace {

constexpr std::size_t head_bytes = 3;  // of both that are packed
constexpr std::byte format_version{3};

std::size_t ip_bytes(int family) noexcept {
  return family == 4 ? 4 : 16;
}

}  // namespace

bool rail_address::loopback() const noexcept {
  if (family == 4) return ip[0] == 127;
  return std::all_of(ip.begin(), ip.end() - 1, [](auto b) { return b == 0; }) && ip[15] == 1;
}

bool rail_address::link_local() const noexcept {
  return family == 6 ? ip[0] == 0xfe && (ip[1] & 0xc0) == 0x80 : ip[0] == 169 && ip[1] == 254;
}

int rail_address::bits_in_common(const rail_address& other) const noexcept {
  if (family != other.family) return -1;
  int bits = 0;
  for (std::size_t i = 0; i < ip_bytes(family); ++i) {
    const auto differing = static_cast<std::uint8_t>(ip[i] ^ other.ip[i]);
    bits += std::countl_zero(differing);
    if (differing != 0) break;
  }
  return bits;
}

std::string rail_address::text() const {
  std::array<char, INET6_ADDRSTRLEN> out{};
  inet_ntop(family == 4 ? AF_INET : AF_INET6, ip.data(), out.data(), out.size());
  return out.data();
}

socket_address to_socket(const rail_address& a) noexcept {
  socket_address out;
  if (a.family == 4) {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_port = htons(a.port);
    std::memcpy(&in.sin_addr, a.ip.data(), 4);
    std::memcpy(&out.storage, &in, sizeof in);
    out.length = sizeof in;
    return out;
  }
  sockaddr_in6 in{};
  in.sin6_family = AF_INET6;
  in.sin6_port = htons(a.port);
  in.sin6_scope_id = a.link_local() ? a.scope : 0;
  std::memcpy(&in.sin6_addr, a.ip.data(), 16);
  std::memcpy(&out.storage, &in, sizeof in);
  out.length = sizeof in;
  return out;
}

std::optional<rail_address> from_socket(const sockaddr* address) noexcept {
  rail_address out;
  if (address->sa_family == AF_INET) {
    sockaddr_in in;
    std::memcpy(&in, address, sizeof in);
    std::memcpy(out.ip.data(), &in.sin_addr, 4);
    out.port = ntohs(in.sin_port);
    return out;
  }
  if (address->sa_family != AF_INET6) return std::nullopt;
  sockaddr_in6 in;
  std::memcpy(&in, address, sizeof in);
  out.family = 6;
  std::memcpy(out.ip.data(), &in.sin6_addr, 16);
  out.port = ntohs(in.sin6_port);
  out.scope = in.sin6_scope_id;
  return out;
}

std::optional<rail_address> parse_ip(const std::string& text) {
  rail_address out;
  if (inet_pton(AF_INET, text.c_str(), out.ip.data()) == 1) return out;
  const auto percent = text.find('%');
  out.family = 6;
  if (inet_pton(AF_INET6, text.substr(0, percent).c_str(), out.ip.data()) != 1) return std::nullopt;
  if (percent != std::string::npos) out.scope = if_nametoindex(text.substr(percent + 1).c_str());
  return out;
}

std::optional<rail_address> parse_subnet(const std::string& text) {
  const auto slash = text.find('/');
  if (slash == std::string::npos) return std::nullopt;
  auto out = parse_ip(text.substr(0, slash));
  if (!out) return std::nullopt;
  const char* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data() + slash + 1, end, out->subnet_bits);
  const int most = static_cast<int>(8 * ip_bytes(out->family));
  if (problem != std::errc{} || stop != end || out->subnet_bits < 0 || out->subnet_bits > most)
    return std::nullopt;
  return out;
}

void pack(const rail_address& a, std::vector<std::byte>& onto) {
  std::array<std::byte, head_bytes + 16> all{static_cast<std::byte>(a.family)};
  store_le(all.data() + 1, a.port);
  std::memcpy(all.data() + head_bytes, a.ip.data(), a.ip.size());
  onto.insert(onto.end(), all.data(), all.data() + head_bytes + ip_bytes(a.family));
}

std::optional<rail_address> unpack(std::span<const std::byte>& bytes) noexcept {
  if (bytes.size() < head_bytes) return std::nullopt;
  rail_address a;
  a.family = std::to_integer<int>(bytes[0]);
  a.port = load_le<std::uint16_t>(bytes.data() + 1);
  const auto ip = bytes.subspan(head_bytes);
  if ((a.family != 4 && a.family != 6) || a.port == 0 || ip.size() < ip_bytes(a.family))
    return std::nullopt;
  std::memcpy(a.ip.data(), ip.data(), ip_bytes(a.family));
  bytes = ip.subspan(ip_bytes(a.family));
  return a;
}

std::vector<std::byte> encode(const whereabouts& w) {
  std::vector<std::byte> out{format_version, static_cast<std::byte>(w.addresses.size()),
                             static_cast<std::byte>(w.algorithms)};
  for (const rail_address& a : w.addresses) pack(a, out);
  return out;
}

std::optional<whereabouts> parse_whereabouts(std::span<const std::byte> bytes) {
  if (bytes.size() < head_bytes || bytes[0] != format_version) return std::nullopt;
  const auto count = std::to_integer<std::size_t>(bytes[1]);
  whereabouts out{{}, std::to_integer<algorithm_set>(bytes[2])};
  if (count == 0 || count > max_addresses || (out.algorithms & ~every_algorithm) != 0)
    return std::nullopt;
  bytes = bytes.subspan(head_bytes);
  while (out.addresses.size() < count) {
    const auto a = unpack(bytes);
    if (!a) return std::nullopt;
    out.addresses.push_back(*a);
  }
  return bytes.empty() ? std::optional(out) : std::nullopt;
}

}  // namespace heddle::transport::tcp
