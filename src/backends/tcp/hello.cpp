// SPDX-License-Identifier: BSD-3-Clause
// hello.cpp - the image of a hello, and the keyed hash over two of them.
#include "backends/tcp/hello.h"

#include <sodium.h>

#include <algorithm>

#include "backends/tcp/bytes.h"

namespace heddle::transport::tcp {
namespace {

// Image: magic 4, version 2, to_lane 2, from 4, to 4, from_lane 2, algorithms 1,
// zero 13, nonce 32.
constexpr std::uint32_t magic = 0x4c444548;  // "HEDL"
constexpr std::size_t nonce_at = 32;

bool padding_is_zero(std::span<const std::byte> bytes) noexcept {
  return std::ranges::all_of(bytes.subspan(19, nonce_at - 19),
                             [](std::byte b) { return b == std::byte{0}; });
}

std::array<std::byte, 32> hashed(std::span<const std::byte, 32> secret, std::byte what_for,
                                 const hello_image& initiator,
                                 const hello_image& acceptor) noexcept {
  static_assert(crypto_generichash_KEYBYTES_MIN <= 32 && 32 <= crypto_generichash_KEYBYTES_MAX);
  std::array<std::byte, 1 + 2 * hello_bytes> said;
  said[0] = what_for;
  std::ranges::copy(initiator, said.begin() + 1);
  std::ranges::copy(acceptor, said.begin() + 1 + hello_bytes);
  const auto chars = [](const std::byte* p) { return reinterpret_cast<const unsigned char*>(p); };
  std::array<std::byte, 32> out;
  crypto_generichash(reinterpret_cast<unsigned char*>(out.data()), out.size(), chars(said.data()),
                     said.size(), chars(secret.data()), secret.size());
  return out;
}

}  // namespace

nonce fresh_nonce() noexcept {
  nonce out;
  randombytes_buf(out.data(), out.size());
  return out;
}

hello_image encode(const hello& h) noexcept {
  hello_image out{};
  store_le(out.data(), magic);
  store_le(out.data() + 4, protocol_version);
  store_le(out.data() + 6, h.to_lane);
  store_le(out.data() + 8, h.from);
  store_le(out.data() + 12, h.to);
  store_le(out.data() + 16, h.from_lane);
  out[18] = static_cast<std::byte>(h.algorithms);
  std::ranges::copy(h.random, out.begin() + nonce_at);
  return out;
}

std::optional<hello> parse_hello(std::span<const std::byte> bytes) noexcept {
  if (bytes.size() != hello_bytes) return std::nullopt;
  const std::byte* at = bytes.data();
  if (load_le<std::uint32_t>(at) != magic) return std::nullopt;
  if (load_le<std::uint16_t>(at + 4) != protocol_version) return std::nullopt;
  hello h;
  h.to_lane = load_le<std::uint16_t>(at + 6);
  h.from = load_le<std::uint32_t>(at + 8);
  h.to = load_le<std::uint32_t>(at + 12);
  h.from_lane = load_le<std::uint16_t>(at + 16);
  h.algorithms = std::to_integer<algorithm_set>(at[18]);
  std::ranges::copy(bytes.subspan(nonce_at), h.random.begin());
  if (h.from_lane >= max_lanes || h.to_lane >= max_lanes ||
      (h.algorithms & ~every_algorithm) != 0 || !padding_is_zero(bytes))
    return std::nullopt;
  return h;
}

std::string why_they_disagree(algorithm_set ours) {
  return ours != 0 ? "it does not encrypt what goes over tcp, and this rank does: set the same "
                     "HEDDLE_TCP_CRYPT for all ranks"
                   : "it encrypts what goes over tcp, and this rank does not: set the same "
                     "HEDDLE_TCP_CRYPT for all ranks";
}

proof prove(std::span<const std::byte, 32> secret, role prover, const hello_image& initiator,
            const hello_image& acceptor) noexcept {
  return hashed(secret, static_cast<std::byte>(prover), initiator, acceptor);
}

// What the hash is for is told by its first byte.
cipher::key frame_key(std::span<const std::byte, 32> secret, role speaker,
                      const hello_image& initiator, const hello_image& acceptor) noexcept {
  constexpr std::byte of_keys{0x80};
  return hashed(secret, of_keys | static_cast<std::byte>(speaker), initiator, acceptor);
}

bool same_proof(const proof& a, const proof& b) noexcept {
  return sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace heddle::transport::tcp
