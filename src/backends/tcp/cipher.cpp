// SPDX-License-Identifier: BSD-3-Clause
// cipher.cpp - libsodium's AEAD with counted nonces and keys that follow from each other.
#include "backends/tcp/cipher.h"

#include <cstring>

namespace heddle::transport::tcp {
namespace {

unsigned char* chars(std::byte* p) noexcept {
  return reinterpret_cast<unsigned char*>(p);
}
const unsigned char* chars(const std::byte* p) noexcept {
  return reinterpret_cast<const unsigned char*>(p);
}

constexpr algorithm_set bit(algorithm a) noexcept {
  return static_cast<algorithm_set>(a);
}

}  // namespace

algorithm_set known_algorithms() noexcept {
  const bool aes = crypto_aead_aes256gcm_is_available() != 0;
  return bit(algorithm::chacha20_poly1305) | (aes ? bit(algorithm::aes256_gcm) : 0);
}

algorithm best_of(algorithm_set ours, algorithm_set theirs) noexcept {
  for (const algorithm a : {algorithm::aes256_gcm, algorithm::chacha20_poly1305})
    if ((ours & theirs & bit(a)) != 0) return a;
  return algorithm::none;
}

cipher::cipher(algorithm which, const key& first) : which_(which), key_(first) {
  schedule();
}

cipher::~cipher() {
  sodium_memzero(key_.data(), key_.size());
  sodium_memzero(&aes_, sizeof aes_);
}

void cipher::schedule() noexcept {
  if (which_ == algorithm::aes256_gcm)
    (void)crypto_aead_aes256gcm_beforenm(&aes_, chars(key_.data()));
}

// The count goes on from key to key.
cipher::nonce cipher::next_nonce() noexcept {
  if (uses_ != 0 && uses_ % key_uses == 0) {
    const key old = key_;
    (void)crypto_generichash(chars(key_.data()), key_.size(), nullptr, 0, chars(old.data()),
                             old.size());
    schedule();
  }
  nonce out{};
  std::memcpy(out.data(), &uses_, sizeof uses_);
  ++uses_;
  return out;
}

void cipher::seal(std::span<const std::byte> clear, std::span<const std::byte> plain,
                  std::byte* out) noexcept {
  const nonce n = next_nonce();
  if (which_ == algorithm::aes256_gcm)
    (void)crypto_aead_aes256gcm_encrypt_afternm(chars(out), nullptr, chars(plain.data()),
                                                plain.size(), chars(clear.data()), clear.size(),
                                                nullptr, n.data(), &aes_);
  else
    (void)crypto_aead_chacha20poly1305_ietf_encrypt(chars(out), nullptr, chars(plain.data()),
                                                    plain.size(), chars(clear.data()), clear.size(),
                                                    nullptr, n.data(), chars(key_.data()));
}

bool cipher::open(std::span<const std::byte> clear, std::span<const std::byte> sealed,
                  std::byte* out) noexcept {
  const nonce n = next_nonce();
  if (which_ == algorithm::aes256_gcm)
    return crypto_aead_aes256gcm_decrypt_afternm(chars(out), nullptr, nullptr, chars(sealed.data()),
                                                 sealed.size(), chars(clear.data()), clear.size(),
                                                 n.data(), &aes_) == 0;
  return crypto_aead_chacha20poly1305_ietf_decrypt(
             chars(out), nullptr, nullptr, chars(sealed.data()), sealed.size(), chars(clear.data()),
             clear.size(), n.data(), chars(key_.data())) == 0;
}

}  // namespace heddle::transport::tcp
