// SPDX-License-Identifier: BSD-3-Clause
// cipher.h - one direction of an encrypted connection: its key, and the count that is its nonce.
//
// Every connection and direction has a key of its own, so counting from 0 uses no nonce twice. A
// key is replaced by a hash of itself long before its algorithm has seen too much.
#pragma once
#include <sodium.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace heddle::transport::tcp {

/// Algorithms, a bit each. None: plain bytes.
enum class algorithm : std::uint8_t { none = 0, chacha20_poly1305 = 1, aes256_gcm = 2 };

/// Some of them: what one side of a connection accepts. Empty: plain bytes only.
using algorithm_set = std::uint8_t;
inline constexpr algorithm_set every_algorithm = 3;

/// All that libsodium has on this processor: AES-256-GCM needs its instructions.
[[nodiscard]] algorithm_set known_algorithms() noexcept;
/// The best that both sides have; none when they have none in common, or neither wants any.
[[nodiscard]] algorithm best_of(algorithm_set ours, algorithm_set theirs) noexcept;

/// One thread at a time. sodium_init() was called before.
class cipher {
 public:
  using key = std::array<std::byte, 32>;
  static constexpr std::size_t tag_bytes = 16;
  /// How often a key is used: 2^20 units of 64 KiB are well below the 2^34.5 blocks that RFC 8446
  /// allows AES-GCM.
  static constexpr std::uint64_t key_uses = std::uint64_t{1} << 20;

  /// `which` is one of known_algorithms().
  cipher(algorithm which, const key& first);
  cipher(const cipher&) = delete;
  cipher& operator=(const cipher&) = delete;
  ~cipher();

  /// Encrypts `plain` to `out`, and a tag over `clear` and it behind that. `out` is the place of
  /// `plain` or does not overlap it.
  void seal(std::span<const std::byte> clear, std::span<const std::byte> plain,
            std::byte* out) noexcept;
  /// The inverse: `sealed` with its tag. False: it is not what the other side's seal() made with as
  /// many calls before; then zeros are where the plain bytes would be.
  [[nodiscard]] bool open(std::span<const std::byte> clear, std::span<const std::byte> sealed,
                          std::byte* out) noexcept;

 private:
  using nonce = std::array<unsigned char, 12>;
  static_assert(crypto_aead_aes256gcm_NPUBBYTES == sizeof(nonce));
  static_assert(crypto_aead_chacha20poly1305_ietf_NPUBBYTES == sizeof(nonce));
  static_assert(crypto_aead_aes256gcm_KEYBYTES == sizeof(key));
  static_assert(crypto_aead_chacha20poly1305_ietf_KEYBYTES == sizeof(key));
  static_assert(crypto_aead_aes256gcm_ABYTES == tag_bytes);
  static_assert(crypto_aead_chacha20poly1305_ietf_ABYTES == tag_bytes);

  [[nodiscard]] nonce next_nonce() noexcept;
  void schedule() noexcept;

  algorithm which_;
  key key_;
  std::uint64_t uses_ = 0;             // of all keys together
  crypto_aead_aes256gcm_state aes_{};  // what AES makes of the key beforehand
};

}  // namespace heddle::transport::tcp
