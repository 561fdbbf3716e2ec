// SPDX-License-Identifier: BSD-3-Clause
// bare_main.cpp - heddle_bare: prints the bare limits of this machine.
#include <fmt/core.h>

#include <exception>
#include <string>

#include "parts/bare.h"

namespace {

using namespace heddle::bare;

/// Two digits behind the point where there are few before it.
void print(const std::string& what, double value, const char* unit) {
  const bool large = unit == std::string("ns") || unit == std::string("M/s");
  fmt::print("{:<44}{:>10.{}f} {}\n", what, value, large ? 1 : 2, unit);
}

void print_memory(core_pair cores, duration time) {
  print("cache line, one way", cache_line_one_way(cores, time) * 1e9, "ns");
  for (const std::size_t mib : {1u, 16u}) {
    print(fmt::format("random 8 B stores, {} MiB mapping", mib),
          random_stores(cores.first, mib << 20, time) / 1e6, "M/s");
    print(fmt::format("random 8 B atomics, {} MiB mapping", mib),
          random_atomics(cores.first, mib << 20, time) / 1e6, "M/s");
  }
  for (const std::size_t kib : {4u, 64u, 1024u, 16384u}) {
    print(fmt::format("memcpy into a mapping, {} KiB", kib),
          copy_into_mapping(cores.first, kib << 10, time) / 1e9, "GB/s");
    print(fmt::format("process_vm_readv, {} KiB", kib),
          read_other_process(cores.first, kib << 10, time) / 1e9, "GB/s");
  }
}

void print_sockets(core_pair cores, duration time) {
  print("TCP loopback 8 B, one way, spinning", socket_round_trip(cores, 8, time) / 2 * 1e6, "us");
  print("TCP loopback 8 B, round trip, spinning", socket_round_trip(cores, 8, time) * 1e6, "us");
  print("TCP loopback 8 B, round trip, target computes",
        sleeping_target_round_trip(cores, 8, time) * 1e6, "us");
  print("TCP loopback stream, 1 MiB messages", socket_stream(cores, 1 << 20, 3 * time) / 1e9,
        "GB/s");
  print("TCP loopback, framed messages of 8 B in batches", socket_messages(cores, 8, time) / 1e6,
        "M/s");
}

void print_ciphers(core_pair cores, duration time) {
  for (const bool aes : {true, false}) {
    if (aes && !has_aes()) continue;
    print(fmt::format("{}, opening 64 KiB", aes ? "AES-256-GCM" : "ChaCha20-Poly1305"),
          open_records(cores.first, aes, 64 << 10, time) / 1e9, "GB/s");
  }
}

}  // namespace

int main() {
  try {
    const auto cores = allowed_cores();
    const core_pair pair{cores.front(), cores[cores.size() > 1 ? 1 : 0]};
    fmt::print("cores {} and {}\n", pair.first, pair.second);
    print_memory(pair, std::chrono::milliseconds(100));
    print_sockets(pair, std::chrono::milliseconds(100));
    print_ciphers(pair, std::chrono::milliseconds(100));
    return 0;
  } catch (const std::exception& failure) {
    fmt::print(stderr, "heddle_bare: {}\n", failure.what());
    return 1;
  }
}
