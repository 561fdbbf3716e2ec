// SPDX-License-Identifier: BSD-3-Clause
// bare_cipher.cpp - how fast one core opens what was encrypted: the limit of encrypted transfers.
#include <sodium.h>

#include <array>
#include <stdexcept>
#include <vector>

#include "parts/bare.h"
#include "parts/timing.h"

namespace heddle::bare {
namespace {

constexpr std::size_t tag_bytes = 16;
static_assert(crypto_aead_aes256gcm_ABYTES == tag_bytes);
static_assert(crypto_aead_chacha20poly1305_ietf_ABYTES == tag_bytes);

/// A record of zeros and what it takes to open it.
struct sealed_record {
  std::array<unsigned char, 32> key{};
  std::array<unsigned char, 12> nonce{};
  crypto_aead_aes256gcm_state aes{};
  std::vector<unsigned char> sealed, plain;

  sealed_record(bool with_aes, std::size_t bytes) : sealed(bytes + tag_bytes), plain(bytes) {
    (void)crypto_aead_aes256gcm_beforenm(&aes, key.data());
    if (with_aes)
      (void)crypto_aead_aes256gcm_encrypt_afternm(sealed.data(), nullptr, plain.data(), bytes,
                                                  nullptr, 0, nullptr, nonce.data(), &aes);
    else
      (void)crypto_aead_chacha20poly1305_ietf_encrypt(sealed.data(), nullptr, plain.data(), bytes,
                                                      nullptr, 0, nullptr, nonce.data(),
                                                      key.data());
  }
  [[nodiscard]] bool opens_by_aes() {
    return crypto_aead_aes256gcm_decrypt_afternm(plain.data(), nullptr, nullptr, sealed.data(),
                                                 sealed.size(), nullptr, 0, nonce.data(),
                                                 &aes) == 0;
  }
  [[nodiscard]] bool opens_by_chacha() {
    return crypto_aead_chacha20poly1305_ietf_decrypt(plain.data(), nullptr, nullptr, sealed.data(),
                                                     sealed.size(), nullptr, 0, nonce.data(),
                                                     key.data()) == 0;
  }
};

}  // namespace

bool has_aes() {
  return sodium_init() >= 0 && crypto_aead_aes256gcm_is_available() != 0;
}

double open_records(int core, bool with_aes, std::size_t bytes, duration time) {
  if (sodium_init() < 0 || (with_aes && !has_aes()))
    throw std::runtime_error("this processor has no AES for libsodium");
  const double seconds = on_core(core, [&] {
    sealed_record r(with_aes, bytes);
    return seconds_per_step(time, 16, [&] {
      if (!(with_aes ? r.opens_by_aes() : r.opens_by_chacha()))
        throw std::runtime_error("libsodium does not open what it has sealed");
    });
  });
  return static_cast<double>(bytes) / seconds;
}

}  // namespace heddle::bare
