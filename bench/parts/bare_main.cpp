// SPDX-License-Identifier: BSD-3-Clause
// bare_main.cpp - heddle_bare: prints the bare limits of this machine.
#include <fmt/core.h>

#include <exception>

#include "parts/bare.h"

namespace {

using namespace heddle::bare;

void print_memory(core_pair cores, duration time) {
  fmt::print("{:<44}{:>10.1f} ns\n", "cache line, one way", cache_line_one_way(cores, time) * 1e9);
  for (const std::size_t mib : {1u, 16u}) {
    const std::size_t table = mib << 20;
    fmt::print("{:<44}{:>10.1f} M/s\n", fmt::format("random 8 B stores, {} MiB mapping", mib),
               random_stores(cores.first, table, time) / 1e6);
    fmt::print("{:<44}{:>10.1f} M/s\n", fmt::format("random 8 B atomics, {} MiB mapping", mib),
               random_atomics(cores.first, table, time) / 1e6);
  }
  for (const std::size_t kib : {4u, 64u, 1024u, 16384u}) {
    const std::size_t bytes = kib << 10;
    fmt::print("{:<44}{:>10.2f} GB/s\n", fmt::format("memcpy into a mapping, {} KiB", kib),
               copy_into_mapping(cores.first, bytes, time) / 1e9);
    fmt::print("{:<44}{:>10.2f} GB/s\n", fmt::format("process_vm_readv, {} KiB", kib),
               read_other_process(cores.first, bytes, time) / 1e9);
  }
}

void print_sockets(core_pair cores, duration time) {
  fmt::print("{:<44}{:>10.2f} us\n", "TCP loopback 8 B, one way, spinning",
             socket_round_trip(cores, 8, time) / 2 * 1e6);
  fmt::print("{:<44}{:>10.2f} us\n", "TCP loopback 8 B, round trip, spinning",
             socket_round_trip(cores, 8, time) * 1e6);
  fmt::print("{:<44}{:>10.2f} us\n", "TCP loopback 8 B, round trip, target computes",
             sleeping_target_round_trip(cores, 8, time) * 1e6);
  fmt::print("{:<44}{:>10.2f} GB/s\n", "TCP loopback stream, 1 MiB messages",
             socket_stream(cores, 1 << 20, 3 * time) / 1e9);
  fmt::print("{:<44}{:>10.1f} M/s\n", "TCP loopback, framed messages of 8 B in batches",
             socket_messages(cores, 8, time) / 1e6);
}

void print_ciphers(core_pair cores, duration time) {
  const auto row = [&](const char* name, bool with_aes) {
    fmt::print("{:<44}{:>10.2f} GB/s\n", fmt::format("{}, opening 64 KiB", name),
               open_records(cores.first, with_aes, 64 << 10, time) / 1e9);
  };
  if (has_aes()) row("AES-256-GCM", true);
  row("ChaCha20-Poly1305", false);
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
