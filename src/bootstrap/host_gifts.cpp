// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/host_gifts.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/error.h"

namespace heddle::bootstrap {
namespace {

constexpr std::byte of_member{0}, of_leader{1};

/// In the byte order of the machine: all ranks of a job share one.
void append(blob& to, std::uint32_t word) {
  const auto bytes = std::as_bytes(std::span(&word, 1));
  to.insert(to.end(), bytes.begin(), bytes.end());
}

void append(blob& to, int rank, std::span<const std::byte> given) {
  append(to, static_cast<std::uint32_t>(rank));
  append(to, static_cast<std::uint32_t>(given.size()));
  to.insert(to.end(), given.begin(), given.end());
}

std::optional<std::uint32_t> take_word(std::span<const std::byte>& from) {
  std::uint32_t word = 0;
  if (from.size() < sizeof word) return {};
  std::memcpy(&word, from.data(), sizeof word);
  from = from.subspan(sizeof word);
  return word;
}

}  // namespace

host_gifts::host_gifts(int first, int end)
    : first_(first), there_(static_cast<std::size_t>(end - first)), written_{of_leader} {}

void host_gifts::add(int rank, std::span<const std::byte> given) {
  if (!is_ours(rank) || has(rank)) return;
  there_[static_cast<std::size_t>(rank - first_)] = true;
  append(written_, rank, given);
}

blob host_gifts::take() {
  const auto missing = std::ranges::find(there_, false);
  if (missing != there_.end())
    fail("nobody has given anything for rank {}", first_ + (missing - there_.begin()));
  return std::move(written_);
}

blob host_gifts::encode(const gifts& of_host) {
  blob bytes{of_leader};
  for (const auto& [rank, given] : of_host) append(bytes, rank, given);
  return bytes;
}

bool host_gifts::decode(std::span<const std::byte> encoded, int size, const taker& take) {
  if (encoded.empty() || encoded.front() != of_leader) return false;
  encoded = encoded.subspan(1);
  while (!encoded.empty()) {
    const auto rank = take_word(encoded);
    const auto bytes = take_word(encoded);
    if (!rank || !bytes || *bytes > encoded.size()) return false;
    if (*rank >= static_cast<std::uint32_t>(size)) return false;
    take(static_cast<int>(*rank), encoded.first(*bytes));
    encoded = encoded.subspan(*bytes);
  }
  return true;
}

blob host_gifts::encode_leader(int leader) {
  blob bytes{of_member};
  append(bytes, static_cast<std::uint32_t>(leader));
  return bytes;
}

std::optional<int> host_gifts::decode_leader(std::span<const std::byte> encoded) {
  if (encoded.empty() || encoded.front() != of_member) return {};
  encoded = encoded.subspan(1);
  const auto leader = take_word(encoded);
  if (!leader || !encoded.empty()) return {};
  return static_cast<int>(*leader);
}

}  // namespace heddle::bootstrap
