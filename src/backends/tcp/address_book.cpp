// SPDX-License-Identifier: BSD-3-Clause
// address_book.cpp - addresses of peers, packed.
#include "backends/tcp/address_book.h"

#include <algorithm>

namespace heddle::transport::tcp {

void address_book::add(rank peer, std::span<const entry> entries) {
  const bool first = pool_.empty();
  if (first) {
    begins_.resize(static_cast<std::size_t>(size_));
    pool_.push_back({});  // nobody begins at 0
  }
  begins_[static_cast<std::size_t>(peer)] = static_cast<std::uint32_t>(pool_.size());
  pool_.push_back(static_cast<std::byte>(entries.size()));
  pool_.push_back(nowhere);
  for (const auto& [at, place] : entries) {
    pool_.push_back(static_cast<std::byte>(place));
    pack(at, pool_);
  }
  // Room for all, should all have as many addresses as the first.
  if (first) pool_.reserve(static_cast<std::size_t>(size_) * pool_.size());
}

bool address_book::knows(rank peer) const noexcept {
  return !begins_.empty() && begins_[static_cast<std::size_t>(peer)] != 0;
}

std::vector<address_book::entry> address_book::find(rank peer) const {
  std::vector<entry> all;
  if (!knows(peer)) return all;
  auto rest = std::span(pool_).subspan(begins_[static_cast<std::size_t>(peer)]);
  all.resize(std::to_integer<std::size_t>(rest[0]));
  const auto best = std::to_integer<std::size_t>(rest[1]);
  rest = rest.subspan(2);
  for (entry& e : all) {
    e.place = std::to_integer<std::size_t>(rest[0]);
    rest = rest.subspan(1);
    e.at = unpack(rest).value_or(rail_address{});
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
