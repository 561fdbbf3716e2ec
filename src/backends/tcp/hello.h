// SPDX-License-Identifier: BSD-3-Clause
// hello.h - how the two ends of a fresh connection prove to each other that they are of one job.
//
//   initiator -> acceptor   hello
//   acceptor -> initiator   hello, proof(acceptor)
//   initiator -> acceptor   proof(initiator), and frames from here on
// Both agree on the best algorithm that both hellos name; frames are plain when neither names any,
// and there are none when only one does. A proof is a hash keyed with the job's secret over the
// prover's role and both hellos. The role makes a proof useless in the other direction; the nonces
// make it useless on another connection.
#pragma once
#include <heddle/types.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "backends/tcp/cipher.h"

namespace heddle::transport::tcp {

inline constexpr std::uint16_t protocol_version = 5;
inline constexpr std::size_t hello_bytes = 64;
inline constexpr std::size_t proof_bytes = 32;

using nonce = std::array<std::byte, 32>;
using proof = std::array<std::byte, proof_bytes>;
using hello_image = std::array<std::byte, hello_bytes>;

/// Who speaks to whom, as it travels.
struct hello {
  std::array<char, 4> magic{'H', 'E', 'D', 'L'};
  std::uint16_t version = protocol_version;
  std::uint16_t to_lane = 0;     ///< below max_lanes
  std::uint32_t from = 0;        ///< rank of the speaker
  std::uint32_t to = 0;          ///< rank it believes to speak to
  std::uint16_t from_lane = 0;   ///< the speaker's; below max_lanes
  algorithm_set algorithms = 0;  ///< by which the speaker encrypts; empty: it does not
  std::array<std::byte, 13> zero{};
  nonce random{};
  friend bool operator==(const hello&, const hello&) = default;
};
static_assert(sizeof(hello) == hello_bytes && std::endian::native == std::endian::little);

/// For people, where one side encrypts and the other does not, or by no algorithm that both have.
[[nodiscard]] std::string why_they_disagree(algorithm_set ours);

enum class role : std::uint8_t { initiator = 1, acceptor = 2 };

/// A nonce nobody can foresee.
[[nodiscard]] nonce fresh_nonce() noexcept;

[[nodiscard]] inline hello_image encode(const hello& h) noexcept {
  return std::bit_cast<hello_image>(h);
}
/// Nothing when magic, version, lane or padding is wrong. Total.
[[nodiscard]] std::optional<hello> parse_hello(std::span<const std::byte> bytes) noexcept;

[[nodiscard]] proof prove(std::span<const std::byte, 32> secret, role prover,
                          const hello_image& initiator, const hello_image& acceptor) noexcept;
/// What frames are encrypted with that `speaker` sends: the secret's hash over both hellos, too.
[[nodiscard]] cipher::key frame_key(std::span<const std::byte, 32> secret, role speaker,
                                    const hello_image& initiator,
                                    const hello_image& acceptor) noexcept;
/// Compares in constant time.
[[nodiscard]] bool same_proof(const proof& a, const proof& b) noexcept;

}  // namespace heddle::transport::tcp
