// SPDX-License-Identifier: BSD-3-Clause
// hello.cpp - the image of a hello, and the keyed hash over two of them.
#include "backends/tcp/hello.h"

#include <sodium.h>

#include <algorithm>
#include <cstring>

namespace heddle::transport::tcp {
namespace {

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

std::optional<hello> parse_hello(std::span<const std::byte> bytes) noexcept {
  if (bytes.size() != hello_bytes) return std::nullopt;
  hello h;
  std::memcpy(&h, bytes.data(), sizeof h);
  const hello fixed;
  if (h.magic != fixed.magic || h.version != fixed.version || h.zero != fixed.zero ||
      h.from_lane >= max_lanes || h.to_lane >= max_lanes || (h.algorithms & ~every_algorithm) != 0)
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
