// SPDX-License-Identifier: BSD-3-Clause
// address_book.cpp - addresses of peers, packed.
#include "backends/tcp/address_book.h"

#include <algorithm>
#include <cstring>

#include "backends/tcp/bytes.h"

namespace heddle::transport::tcp {
namespace {

constexpr std::size_t head_bytes = 2;
constexpr std::byte is_ipv6{0x80};

std::size_t ip_bytes(bool v6) noexcept {
  return v6 ? 16 : 4;
}

}  // namespace

void address_book::add(rank peer, std::span<const entry> entries) {
  if (pool_.empty()) begin_with(entries);
  begins_[static_cast<std::size_t>(peer)] = static_cast<std::uint32_t>(pool_.size());
  pool_.push_back(static_cast<std::byte>(entries.size()));
  pool_.push_back(nowhere);
  for (const auto& [at, place] : entries) {
    const bool v6 = at.family == 6;
    std::array<std::byte, 19> packed;
    packed[0] = static_cast<std::byte>(place) | (v6 ? is_ipv6 : std::byte{});
    store_le(packed.data() + 1, at.port);
    std::memcpy(packed.data() + 3, at.ip.data(), ip_bytes(v6));
    pool_.insert(pool_.end(), packed.begin(),
                 packed.begin() + 3 + static_cast<std::ptrdiff_t>(ip_bytes(v6)));
  }
}

/// Room for all, should all have as many addresses as the first.
void address_book::begin_with(std::span<const entry> first) {
  begins_.resize(static_cast<std::size_t>(size_));
  std::size_t bytes = head_bytes;
  for (const entry& e : first) bytes += 3 + ip_bytes(e.at.family == 6);
  pool_.reserve(1 + static_cast<std::size_t>(size_) * bytes);
  pool_.push_back({});  // nobody begins at 0
}

bool address_book::knows(rank peer) const noexcept {
  return !begins_.empty() && begins_[static_cast<std::size_t>(peer)] != 0;
}

std::vector<address_book::entry> address_book::find(rank peer) const {
  std::vector<entry> all;
  if (!knows(peer)) return all;
  const std::byte* at = pool_.data() + begins_[static_cast<std::size_t>(peer)];
  all.resize(std::to_integer<std::size_t>(at[0]));
  const auto best = std::to_integer<std::size_t>(at[1]);
  at += head_bytes;
  for (entry& e : all) {
    const bool v6 = (at[0] & is_ipv6) != std::byte{};
    e.place = std::to_integer<std::size_t>(at[0] & ~is_ipv6);
    e.at.family = v6 ? 6 : 4;
    e.at.port = load_le<std::uint16_t>(at + 1);
    std::memcpy(e.at.ip.data(), at + 3, ip_bytes(v6));
    at += 3 + ip_bytes(v6);
  }
  std::ranges::stable_sort(all, {}, [&](const entry& e) {
    if (e.place == best) return 0;
    return failures_[e.place] && !successes_[e.place] ? 2 : 1;
  });
  return all;
}

void address_book::answered(rank peer, std::size_t place) noexcept {
  successes_[place] = true;
  pool_[begins_[static_cast<std::size_t>(peer)] + 1] = static_cast<std::byte>(place);
}

}  // namespace heddle::transport::tcp
