// SPDX-License-Identifier: BSD-3-Clause
// bare_main.cpp - heddle_bare: prints the bare limits of this machine. Those that Heddle is
// measured beside come from heddle_peer_bare; and how fast one core opens what was encrypted.
#include <fmt/core.h>
#include <sodium.h>

#include <array>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "contenders/rivals.h"
#include "parts/timing.h"

namespace heddle::bench {
namespace {

using namespace std::chrono_literals;

constexpr auto time_of_each = 100ms;

/// Two digits behind the point where there are few before it.
void print(const std::string& what, double value, const char* unit) {
  const bool large = unit == std::string("ns") || unit == std::string("M/s");
  fmt::print("{:<44}{:>10.{}f} {}\n", what, value, large ? 1 : 2, unit);
}

/// `times`: from the metric's unit to `unit`.
void print_limit(const std::string& what, spec s, const char* backend, const char* unit,
                 double times = 1) {
  s.time = time_of_each;
  const task t{
      .what = s, .backend = backend, .cores = cores_of_rank(bare::allowed_cores(), 0, 1, 2)};
  print(what, rival_round(rival::bare, t).figures.front() * times, unit);
}

void print_memory() {
  print_limit("cache line, one way", {.op = operation::put}, "shm", "ns", 1e3);
  for (const std::uint64_t mib : {1u, 16u}) {
    spec s{.what = kind::rate, .op = operation::put, .table_bytes = mib << 20};
    print_limit(fmt::format("random 8 B stores, {} MiB mapping", mib), s, "shm", "M/s");
    s.op = operation::fetch_add;
    print_limit(fmt::format("random 8 B atomics, {} MiB mapping", mib), s, "shm", "M/s");
  }
  for (const std::uint64_t kib : {4u, 64u, 1024u, 16384u}) {
    spec s{.what = kind::bandwidth,
           .bytes = kib << 10,
           .buffers = buffer_kind::exposed,
           .table_bytes = kib << 10};
    print_limit(fmt::format("memcpy into a mapping, {} KiB", kib), s, "shm", "GB/s");
    s.buffers = buffer_kind::plain;
    print_limit(fmt::format("process_vm_readv, {} KiB", kib), s, "shm", "GB/s");
  }
}

void print_sockets() {
  print_limit("TCP loopback 8 B, one way, spinning", {.op = operation::tag}, "tcp", "us");
  spec s{.op = operation::get};
  print_limit("TCP loopback 8 B, round trip, spinning", s, "tcp", "us");
  s.target = target_mode::computing;
  print_limit("TCP loopback 8 B, round trip, target computes", s, "tcp", "us");
  s = {.what = kind::bandwidth, .op = operation::tag, .bytes = 1 << 20};
  print_limit("TCP loopback stream, 1 MiB messages", s, "tcp", "GB/s");
  print_limit("TCP loopback, framed messages of 8 B in batches", {.what = kind::rate}, "tcp",
              "M/s");
}

/// By libsodium's functions for one cipher, and the key as they take it.
template <class Seal, class Open, class Key>
void print_cipher(const char* name, Seal seal, Open open, const Key* key) {
  constexpr std::size_t bytes = 64 << 10, tag_bytes = 16;
  const std::array<unsigned char, 12> nonce{};
  std::vector<unsigned char> sealed(bytes + tag_bytes), plain(bytes);
  (void)seal(sealed.data(), nullptr, plain.data(), bytes, nullptr, 0, nullptr, nonce.data(), key);
  const double seconds = bare::seconds_per_step(time_of_each, 16, [&] {
    if (open(plain.data(), nullptr, nullptr, sealed.data(), sealed.size(), nullptr, 0, nonce.data(),
             key) != 0)
      throw std::runtime_error("libsodium does not open what it has sealed");
  });
  print(fmt::format("{}, opening 64 KiB", name), bytes / seconds / 1e9, "GB/s");
}

void print_ciphers() {
  if (sodium_init() < 0) throw std::runtime_error("libsodium does not start");
  const std::array<unsigned char, 32> key{};
  if (crypto_aead_aes256gcm_is_available() != 0) {
    crypto_aead_aes256gcm_state aes;
    (void)crypto_aead_aes256gcm_beforenm(&aes, key.data());
    print_cipher("AES-256-GCM", crypto_aead_aes256gcm_encrypt_afternm,
                 crypto_aead_aes256gcm_decrypt_afternm, &aes);
  }
  print_cipher("ChaCha20-Poly1305", crypto_aead_chacha20poly1305_ietf_encrypt,
               crypto_aead_chacha20poly1305_ietf_decrypt, key.data());
}

}  // namespace
}  // namespace heddle::bench

int main() {
  try {
    const auto cores = heddle::bare::allowed_cores();
    fmt::print("cores {} and {}\n", cores.front(), cores[cores.size() > 1 ? 1 : 0]);
    heddle::bench::print_memory();
    heddle::bench::print_sockets();
    heddle::bare::pin_this_thread(cores.front());
    heddle::bench::print_ciphers();
    return 0;
  } catch (const std::exception& failure) {
    fmt::print(stderr, "heddle_bare: {}\n", failure.what());
    return 1;
  }
}
