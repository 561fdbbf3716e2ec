#include "bootstrap/host_gifts.h"

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

std::optional<std::uint32_t> take_word(std::span<const std::byte>& from) {
  std::uint32_t word = 0;
  if (from.size() < sizeof word) return {};
  std::memcpy(&word, from.data(), sizeof word);
  from = from.subspan(sizeof word);
  return word;
}

}  // namespace

blob host_gifts::encode(const gifts& of_host) {
  blob bytes{of_leader};
  for (const auto& [rank, given] : of_host) {
    append(bytes, static_cast<std::uint32_t>(rank));
    append(bytes, static_cast<std::uint32_t>(given.size()));
    bytes.insert(bytes.end(), given.begin(), given.end());
  }
  return bytes;
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

void host_gifts::add(const gifts& of_host) {
  for (const auto& [rank, given] : of_host) all_[static_cast<std::size_t>(rank)] = given;
}

bool host_gifts::add(std::span<const std::byte> encoded) {
  if (encoded.empty() || encoded.front() != of_leader) return false;
  encoded = encoded.subspan(1);
  while (!encoded.empty()) {
    const auto rank = take_word(encoded);
    const auto bytes = take_word(encoded);
    if (!rank || !bytes || *bytes > encoded.size()) return false;
    if (!valid(static_cast<int>(*rank))) return false;
    const auto given = encoded.first(*bytes);
    all_[*rank].emplace(given.begin(), given.end());
    encoded = encoded.subspan(*bytes);
  }
  return true;
}

gathered host_gifts::take() {
  std::vector<blob> taken;
  for (std::size_t rank = 0; rank < all_.size(); ++rank) {
    if (!all_[rank]) fail("nobody has given anything for rank {}", rank);
    taken.push_back(std::move(*all_[rank]));
  }
  return gathered(taken);
}

}  // namespace heddle::bootstrap
